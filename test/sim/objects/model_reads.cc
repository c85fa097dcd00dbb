// How reads of objects may end: what is handed over is held against what was seen.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/base/error.h"
#include "test/sim/objects/model.h"

namespace corail::sim {
namespace {

/// Bytes of the granules that hold the ranges, each once.
std::uint64_t needed_bytes(const ObjectReadOrder& order) {
  if (order.ranges.empty()) return order.size;
  std::uint64_t needed = 0;
  std::uint64_t end = 0;  // of the granules that were counted
  for (const ObjectRange& range : order.ranges) {
    const std::uint64_t begin = std::max(end, range.offset / kGranuleBytes * kGranuleBytes);
    const std::uint64_t last = range.offset + range.length - 1;
    end = std::max(end, std::min((last / kGranuleBytes + 1) * kGranuleBytes, order.size));
    needed += end - std::min(begin, end);
  }
  return needed;
}

std::uint64_t asked_bytes(const ObjectReadOrder& order) {
  if (order.ranges.empty()) return order.size;
  std::uint64_t asked = 0;
  for (const ObjectRange& range : order.ranges) asked += range.length;
  return asked;
}

}  // namespace

ObjectReadRecord& ObjectModel::begin_read(std::size_t link, ReadId read, ObjectReadOrder order) {
  ObjectReadRecord& record = reads_.emplace_back();
  record.number = reads_.size();
  record.posted.number = record.number;
  record.link = link;
  record.read = read;
  record.order = std::move(order);
  record.begin = now();
  by_read_[{link, read.value()}] = &record;
  return record;
}

void ObjectModel::check_ended(ObjectReadRecord& read) {
  read.ended = true;
  if (now() > read.order.deadline + read_grace_) {
    journal_.violate(8, fmt::format("read {} ended {} ns after its deadline", read.number,
                                    (now() - read.order.deadline).count()));
  }
}

void ObjectModel::on_failure(ObjectReadRecord& read, const Error& error) {
  journal_.event("read {} failed: {}", read.number, error.to_string());
  check_ended(read);
  if (error.code() == Errc::kStuck) return destinations(kUser).quarantine(read.number);
  if (error.code() == Errc::kUnset) {
    journal_.violate(2, fmt::format("read {} ended with a result that nobody set", read.number));
  }
  if (read.posted.in_flight > 0) {
    journal_.violate(6, fmt::format("read {} returned with {} slices in flight", read.number,
                                    read.posted.in_flight));
  }
  destinations(kUser).give_back(read.number);
}

void ObjectModel::on_success(ObjectReadRecord& read, const ObjectView& view) {
  journal_.event("read {} succeeded: {} bytes", read.number, view.size());
  check_ended(read);
  // A cancel at the very instant of the return may have come after it.
  if (read.cancelled && *read.cancelled < now()) {
    journal_.violate(2, fmt::format("read {} succeeded although it had been cancelled {} ns before",
                                    read.number, (now() - *read.cancelled).count()));
  }
  destinations(kUser).hold(read.number);
  check_counts(read);
  check_lease(read);
  check_view(read, view);
}

void ObjectModel::on_let_go(const ObjectReadRecord& read) {
  destinations(kUser).give_back(read.number);
}

void ObjectModel::check_counts(const ObjectReadRecord& read) {
  const std::uint64_t needed = needed_bytes(read.order);
  std::uint64_t posted = 0;
  for (const auto& [place, bytes] : read.posted.slices) posted += bytes;
  if (read.posted.in_flight > 0) {
    journal_.violate(6, fmt::format("read {} succeeded with {} slices in flight", read.number,
                                    read.posted.in_flight));
  }
  if (posted == needed && read.posted.landed == needed) return;
  journal_.violate(3, fmt::format("read {} needed {} bytes; {} were posted and {} landed",
                                  read.number, needed, posted, read.posted.landed));
}

void ObjectModel::check_lease(const ObjectReadRecord& read) {
  if (!read.leased || !read.confirm_sent || !read.confirm_heard) {
    return journal_.violate(
        9, fmt::format("read {} was never {}", read.number, read.leased ? "confirmed" : "leased"));
  }
  if (*read.confirm_sent >= read.lease_ends) {
    journal_.violate(9, fmt::format("read {} succeeded although its lease had lapsed {} ns before "
                                    "its confirmation was sent",
                                    read.number, (*read.confirm_sent - read.lease_ends).count()));
  }
  if (!read.order.strict) return;
  const auto superseded = store_.superseded(read.order.key, read.order.generation);
  if (!superseded || *superseded >= *read.confirm_heard) return;
  journal_.violate(2, fmt::format("read {} is strict, and its generation was superseded {} ns "
                                  "before it was confirmed",
                                  read.number, (*read.confirm_heard - *superseded).count()));
}

void ObjectModel::check_view(const ObjectReadRecord& read, const ObjectView& view) {
  const PutRecord* const put = store_.put_of(read.order.generation);
  if (put == nullptr || !put->seen) {
    return journal_.violate(
        2, fmt::format("read {} is of a generation that nobody committed", read.number));
  }
  if (view.size() != asked_bytes(read.order)) {
    return journal_.violate(3, fmt::format("read {} asked for {} bytes and got {}", read.number,
                                           asked_bytes(read.order), view.size()));
  }
  for (const ObjectView::Piece& piece : view.pieces()) {
    const auto wrong = first_wrong(piece.bytes, put->number, piece.offset);
    if (!wrong) continue;
    return journal_.violate(3, fmt::format("byte {} in the view of read {} is not its generation's",
                                           piece.offset + *wrong, read.number));
  }
}

void ObjectModel::on_lookup(std::size_t key, std::optional<ObjectGeneration> generation,
                            TimePoint asked) {
  if (store_.current_since(key, generation, asked)) return;
  journal_.violate(2,
                   fmt::format("a lookup said that {} has generation {}, which it had at no "
                               "time of the call (0: it is not there)",
                               object_key(key), generation.value_or(ObjectGeneration(0)).value()));
}

void ObjectModel::check_deadlines() {
  for (const ObjectReadRecord& read : reads_) {
    if (read.ended || now() <= read.order.deadline + read_grace_) continue;
    journal_.violate(8, fmt::format("read {} still runs, {} ns after its deadline", read.number,
                                    (now() - read.order.deadline).count()));
  }
  for (const PutRecord& put : store_.records()) {
    if (put.ended || now() <= put.order.deadline + put_grace_) continue;
    journal_.violate(8, fmt::format("put {} still runs, {} ns after its deadline", put.number,
                                    (now() - put.order.deadline).count()));
  }
}

void ObjectModel::check_end() {
  for (auto& destinations : destinations_) destinations->check();
  const auto expect_none = [this](std::uint64_t left, const char* what) {
    if (left > 0) journal_.violate(0, fmt::format("{} {} are left at the end", left, what));
  };
  expect_none(serving_, "pins of what doors send");
  for (const ObjectReadRecord& read : reads_) {
    expect_none(read.posted.in_flight, "slices of a read");
  }
  for (const auto& [read, pull] : pulls_) {
    expect_none(pull.in_flight, "slices of a put");
  }
}

}  // namespace corail::sim
