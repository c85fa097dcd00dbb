#include "test/sim/link.h"

#include <algorithm>
#include <utility>

#include "rpc/codec.h"
#include "test/sim/block_names.h"

namespace corail::sim {
namespace {

// What control traffic may cost, in bytes (I10). Nothing here knows segments.
constexpr std::uint64_t kOfConnection = 8 * 1024;  // prefaces, Hello, rails, regions, farewell
constexpr std::uint64_t kOfRun = 40;
constexpr std::uint64_t kOfBlock = 64;  // hash in the query, checksum in the answer
constexpr std::uint64_t kOfTemplate = 256;
constexpr std::uint64_t kOfLane = 24;
constexpr std::uint64_t kOfKeepAlive = 4 * kFrameHeaderBytes;  // a ping and a pong each way
// A request and its answer, of a few bytes each.
constexpr std::uint64_t kOfRenewal = 4 * kFrameHeaderBytes;

/// What a store grants where nothing is asked for, which only a corrupt query does.
constexpr Duration kDefaultTtl = std::chrono::seconds(120);

}  // namespace

LinkEars::LinkEars(Model& model, std::size_t wire, Opening opening)
    : model_(model),
      wire_(wire),
      opening_(std::move(opening)),
      sent_([this](const FrameHeader& header, std::span<const std::byte> body) {
        on_sent(header, body);
      }),
      received_([this](const FrameHeader& header, std::span<const std::byte> body) {
        on_received(header, body);
      }),
      answered_([this](const FrameHeader& header, std::span<const std::byte> body) {
        on_answered(header, body);
      }) {}

void LinkEars::on_sent(const FrameHeader& header, std::span<const std::byte> body) {
  if (header.kind != FrameKind::kRequest) return;
  if (header.method == Method::kOpenRails) {
    sender_ = opening_();
    opened_[header.id] = *sender_;
    ++links_;
    model_.links()[*sender_].wire = wire_;
    model_.journal().event("link {} uses the connection of link {}", *sender_, wire_);
  }
  if (!sender_) return;
  if (header.method == Method::kRenewLease) model_.wire_of(*sender_).allowance += kOfRenewal;
  const bool whole = header.method == Method::kConfirmAndRelease;
  if (!whole && header.method != Method::kConfirmLease) return;
  const auto read = decode_read_id(header.method, body);
  if (read) model_.on_confirm_sent(*sender_, *read, whole);
}

void LinkEars::on_received(const FrameHeader& header, std::span<const std::byte> body) {
  if (header.kind != FrameKind::kRequest) return;
  if (header.method == Method::kOpenRails) {
    // Flipped bits may have made another call of an earlier one, or another number of this one's.
    const auto opened = opened_.find(header.id);
    receiver_ = opened == opened_.end() ? sender_ : opened->second;
  }
  if (!receiver_) return;
  if (header.method == Method::kQueryBlocksForTransfer) return on_query(body, header.id);
  if (header.method == Method::kRenewLease) {
    const auto renewal = decode_renew(body);
    if (renewal) model_.on_renewal(*receiver_, renewal->read, renewal->ttl);
    return;
  }
  const bool confirms = header.method == Method::kConfirmAndRelease;
  const bool gives_up =
      header.method == Method::kReleaseLease || header.method == Method::kQuiesceRead;
  if (!confirms && !gives_up) return;
  const auto read = decode_read_id(header.method, body);
  if (read) model_.on_lease_over(*receiver_, *read, gives_up);
}

void LinkEars::on_query(std::span<const std::byte> body, std::uint64_t call) {
  const auto query = decode_query(body);
  if (!query) return;
  HolderLease lease;
  lease.granted = model_.now();
  lease.granted_by = lease.granted + query->wait;
  lease.ends = lease.granted_by + (query->ttl > Duration::zero() ? query->ttl : kDefaultTtl);
  for (const std::string_view hash : query->hashes) {
    for (BlockNumber block = 0; block < kBlocks; ++block) {
      if (hash == hash_of(block)) lease.asked.insert(block);
    }
  }
  model_.on_query(*receiver_, query->read, lease);
  FetchRecord* fetch = model_.find(*receiver_, query->read);
  if (fetch == nullptr) return;
  model_.journal().event("query of fetch {} reached its holder", fetch->number);
  fetch->answer_runs = runs_of(*fetch);
  // Where blocks that are still to be saved will lie is not known: each somewhere else.
  if (query->wait > Duration::zero()) {
    fetch->answer_runs = std::uint64_t{model_.layout().lanes()} * fetch->order.blocks.size();
  }
  queries_[call] = fetch;
}

std::uint64_t LinkEars::runs_of(const FetchRecord& fetch) const {
  const HeldContent& held = model_.content(fetch.holder);
  std::uint64_t runs = 0;
  for (std::uint32_t lane = 0; lane < model_.layout().lanes(); ++lane) {
    std::uint64_t count = 0;  // addresses in the run that is open
    std::int64_t stride = 0;
    std::uint64_t last = 0;
    for (const BlockNumber block : fetch.order.blocks) {
      const auto address = held.address_of(block, lane);
      if (!address) break;
      const auto step = static_cast<std::int64_t>(*address - last);
      if (count == 0 || (count > 1 && step != stride)) {
        ++runs;
        count = 0;
      } else {
        stride = step;
      }
      ++count;
      last = *address;
    }
  }
  return runs;
}

void LinkEars::on_answered(const FrameHeader& header, std::span<const std::byte> body) {
  // The holder may call over the connection as well; its calls have numbers of their own.
  if (header.kind == FrameKind::kRequest || header.kind == FrameKind::kCancel) return;
  if (header.method != Method::kQueryBlocksForTransfer) return;
  const auto found = queries_.find(header.id);
  if (found == queries_.end()) return;
  FetchRecord& fetch = *found->second;
  fetch.leased_by = std::min(fetch.leased_by, model_.now());
  const std::uint64_t most = kOfTemplate + kOfRun * fetch.answer_runs +
                             kOfBlock * fetch.order.blocks.size() +
                             kOfLane * model_.layout().lanes();
  LinkRecord& record = model_.wire_of(fetch.link);
  record.allowance += most;
  const std::uint64_t bytes = kFrameHeaderBytes + body.size();
  if (header.kind == FrameKind::kError || bytes <= most || record.corrupt) return;
  model_.journal().violate(
      10, fmt::format("the answer to fetch {} has {} bytes; {} runs and {} "
                      "blocks account for {}",
                      fetch.number, bytes, fetch.answer_runs, fetch.order.blocks.size(), most));
}

WireEars::WireEars(Model& model, std::size_t wire, Duration keep_alive, LinkEars::Opening there,
                   LinkEars::Opening back)
    : model_(model),
      wire_(wire),
      keep_alive_(keep_alive),
      there_(model, wire, std::move(there)),
      back_(model, wire, std::move(back)) {}

StreamEars WireEars::dialed() {
  StreamEars ears;
  ears.on_read = [this](std::span<const std::byte> bytes) { back_.received(bytes); };
  ears.on_written = [this](std::span<const std::byte> bytes) {
    there_.sent(bytes);
    back_.answered(bytes);
    check_bytes();
  };
  return ears;
}

StreamEars WireEars::accepted() {
  StreamEars ears;
  ears.on_read = [this](std::span<const std::byte> bytes) { there_.received(bytes); };
  ears.on_written = [this](std::span<const std::byte> bytes) {
    there_.answered(bytes);
    back_.sent(bytes);
    check_bytes();
  };
  return ears;
}

void WireEars::check_bytes() {
  const LinkRecord& record = model_.links()[wire_];
  if (record.corrupt) return;
  const auto intervals =
      static_cast<std::uint64_t>((model_.now() - record.begin) / keep_alive_) + 2;
  const std::uint64_t links = 1 + there_.links() + back_.links();
  const std::uint64_t most = links * kOfConnection + record.allowance + intervals * kOfKeepAlive;
  // Either direction hears every byte of both ends.
  if (there_.bytes() <= most) return;
  model_.journal().violate(10, fmt::format("the connection of link {} took {} bytes of control "
                                           "traffic; its reads account for {}",
                                           wire_, there_.bytes(), most));
}

}  // namespace corail::sim
