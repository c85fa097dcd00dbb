#include "test/object_store/store_rig.h"

#include <span>

#include "engine/object/object_descriptor.h"
#include "test/object_store/content.h"

namespace corail::test {
namespace {

Task<bool> close_store(ObjectStore* store) {
  co_await store->close();
  co_return true;
}

}  // namespace

Result<RecoveryReport> StoreRig::start(std::unique_ptr<ObjectMedium> medium) {
  return start(std::move(medium), options());
}

Result<RecoveryReport> StoreRig::start(std::unique_ptr<ObjectMedium> medium,
                                       ObjectStoreOptions with) {
  stop();
  store_ = std::make_unique<ObjectStore>(std::move(with), std::move(medium), clock_,
                                         context_.get_executor(), BootId(++boot_));
  return run(store_->start());
}

void StoreRig::stop() {
  if (!store_) return;
  run(close_store(store_.get()));
  store_.reset();
}

void StoreRig::settle() {
  context_.restart();
  context_.run();  // timers are the clock's, and no work of the context
}

void StoreRig::settle_but_held() {
  context_.restart();
  context_.poll();
}

void StoreRig::advance(Duration by) {
  settle();
  clock_.advance(by);
  settle();
}

Result<ObjectGeneration> StoreRig::put(const std::string& key, std::uint64_t seed,
                                       std::uint64_t size) {
  return put(request(key, size), seed);
}

Result<ObjectGeneration> StoreRig::put(const PutRequest& request, std::uint64_t seed) {
  const auto begun = run(store().begin_put(request));
  if (!begun) return begun.error();
  if (auto written = write_all(*begun, request, content_of(seed, request.size)); !written) {
    const auto aborted = run(store().abort_put(*begun));
    return aborted ? written.error() : aborted.error();
  }
  const auto committed = run(store().commit_put(*begun));
  settle();
  if (!committed) return committed.error();
  return (*committed)->object.generation;
}

Result<void> StoreRig::write_all(ObjectGeneration put, const PutRequest& request,
                                 const std::vector<std::byte>& content) {
  std::uint32_t stripe = 0;
  for (std::uint64_t at = 0; at < content.size(); at += request.stripe_size, ++stripe) {
    const std::uint64_t length = std::min(request.stripe_size, content.size() - at);
    const auto bytes = std::span(content).subspan(at, length);
    if (auto written = run(store().write(put, stripe, 0, bytes)); !written) return written;
  }
  return ok_result();
}

Result<LeaseId> StoreRig::lease(const std::string& key) {
  const auto lease = store().lease(key, std::nullopt, Duration(0));
  if (!lease) return lease.error();
  return lease->id;
}

Result<std::vector<std::byte>> StoreRig::read_all(LeaseId lease, const StripingInfo& info) {
  const ObjectDescriptor& object = info.object;
  std::vector<std::byte> bytes(object.size);
  for (std::uint32_t i = 0; i < object.chunks.size(); ++i) {
    const auto into = std::span(bytes).subspan(i * object.stripe_size, object.chunks[i].length);
    const auto read = run(store().read(lease, i, 0, into, ReadCheck::kVerify));
    if (!read) return read.error();
  }
  return bytes;
}

Result<std::vector<std::byte>> StoreRig::get(const std::string& key) {
  const auto lease = store().lease(key, std::nullopt, Duration(0));
  if (!lease) return lease.error();
  auto bytes = read_all(lease->id, *lease->info);
  store().release(lease->id);
  settle();
  return bytes;
}

ObjectStoreOptions StoreRig::options() {
  ObjectStoreOptions options;
  options.self = {NodeId(1), {"127.0.0.1:7700"}};
  return options;
}

PutRequest StoreRig::request(const std::string& key, std::uint64_t size) {
  PutRequest request;
  request.key = key;
  request.size = size;
  request.stripe_size = 2 * kGranuleBytes;
  return request;
}

std::string joined(const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += name + " ";
  return line;
}

}  // namespace corail::test
