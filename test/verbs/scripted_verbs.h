#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/verbs/verbs_api.h"

namespace corail::test {

/// A machine with RDMA devices of a test's making, in memory. READs and WRITEs between its queue
/// pairs copy bytes between registered memory as devices do, when the script lets them; keys,
/// ranges, rights and states are checked as devices do. It counts what is alive, and writes down
/// what a real device would not forgive.
///
/// One at a time in a process, because a table of plain functions has no other way to find it.
/// Outlives whatever was made with api(). One thread.
class ScriptedVerbs {
 public:
  struct Port {
    ibv_port_attr attributes{};
    std::vector<ibv_gid_entry> gids;
  };
  struct FakeDevice {
    ibv_device base{};
    std::string name;
    ibv_device_attr attributes{};
    std::vector<Port> ports;
  };
  struct FakeContext {
    ibv_context base{};
    std::deque<ibv_async_event> events;
    unsigned unacknowledged = 0;
  };
  struct FakeRegion {
    ibv_mr base{};
    std::uint64_t iova = 0;
    unsigned access = 0;
  };
  struct FakeChannel {
    ibv_comp_channel base{};
    ibv_cq* cq = nullptr;
  };
  struct FakeQueue {
    ibv_cq base{};
    std::deque<ibv_wc> ready;
    std::size_t capacity = 0;
    bool armed = false;
    unsigned unacknowledged = 0;
  };
  struct Posted {
    ibv_send_wr work{};
    std::vector<ibv_sge> pieces;
  };
  struct FakePair {
    ibv_qp base{};
    ibv_qp_init_attr made{};
    ibv_qp_attr attributes{};
    std::deque<Posted> posted;
    std::deque<std::uint64_t> receives;  // posted, by what was given with them
    bool flushing = false;               // in ERR, and the flushes are held back
  };

  ScriptedVerbs();
  ~ScriptedVerbs();
  ScriptedVerbs(const ScriptedVerbs&) = delete;
  ScriptedVerbs& operator=(const ScriptedVerbs&) = delete;

  const VerbsApi& api() const noexcept;
  static ScriptedVerbs& current();

  /// One active Ethernet port with a link-local GID and 10.77.0.`number`.
  FakeDevice& add_device(std::string name, std::uint8_t number);

  /// The first port of a device.
  Port& port_of(const std::string& name);

  /// Objects of any kind that are alive.
  std::size_t alive() const noexcept;
  /// What a device would not forgive, in words; empty: nothing.
  const std::vector<std::string>& breaches() const noexcept { return breaches_; }

  /// Queue pairs, the oldest first.
  std::vector<FakePair*> pairs();
  FakePair* pair(std::uint32_t number);
  /// The registration that has this key, local or remote.
  FakeRegion* region(std::uint32_t key);

  /// Executes the oldest posted request of the queue pair. False: none, or not in RTS.
  bool run_one(FakePair& pair);
  /// Executes everything that is posted anywhere. Returns how many.
  std::size_t run_all();
  /// The oldest posted request fails so; the pair goes to ERR and flushes the rest.
  void fail_one(FakePair& pair, ibv_wc_status status);
  /// Flushes all that is posted on a pair in ERR. With `hold_flushes` only this does.
  void flush(FakePair& pair);
  /// Every user of the device is told of it; `port` is for the events of ports.
  void tell(const std::string& device, ibv_event_type type, int port = 1);
  /// A completion that no request asked for.
  void invent(FakePair& pair, std::uint64_t request);
  /// The peer of this queue pair says this to it, with a WRITE of nothing.
  void say(FakePair& pair, std::uint32_t said);
  /// Where in `trace` this was first written down; its length: nowhere.
  std::size_t when(const std::string& what) const;

  bool immediate = false;             // requests are executed as soon as they are posted
  bool hold_flushes = false;          // see flush()
  bool copies_late = false;           // a READ of a pair in ERR still lands before it is flushed
  std::map<std::string, int> errors;  // by call: it fails with this errno
  std::map<std::string, std::size_t> calls;
  /// What changes who may write where, in order: "ERR 101", "flushed RECV 101", "destroyed 101",
  /// "registered 1000", "deregistered 1000", by numbers of queue pairs and local keys.
  std::vector<std::string> trace;

 private:
  friend struct ScriptedCalls;

  static void take(ibv_qp_attr& into, const ibv_qp_attr& from, int mask);
  int scripted_error(const std::string& call);
  int counted_error(const std::string& call);
  int take_request(FakePair& pair, const ibv_send_wr& work);
  void check_unused(const ibv_mr& mr);
  void complete(FakePair& pair, const Posted& posted, ibv_wc_status status);
  ibv_wc_status execute(FakePair& pair, const Posted& posted);
  ibv_wc_status copy(FakePair& target, const Posted& posted);
  ibv_wc_status write(FakePair& target, const Posted& posted);
  std::byte* local(const ibv_sge& piece, unsigned needed);
  bool take_receive(FakePair& target, std::uint32_t said);
  void ready(ibv_cq* cq, const ibv_wc& completion);
  void to_error(FakePair& pair);
  void breach(std::string what) { breaches_.push_back(std::move(what)); }

  std::list<FakeDevice> devices_;
  std::vector<ibv_device*> device_list_;
  std::list<std::unique_ptr<FakeContext>> contexts_;
  std::deque<FakeContext*> events_taken_;  // and not acknowledged
  std::list<std::unique_ptr<ibv_pd>> pds_;
  std::list<std::unique_ptr<FakeRegion>> regions_;
  std::list<std::unique_ptr<FakeChannel>> channels_;
  std::list<std::unique_ptr<FakeQueue>> queues_;
  std::list<std::unique_ptr<FakePair>> pairs_;
  std::vector<std::string> breaches_;
  std::uint32_t next_key_ = 1000;
  std::uint32_t next_pair_ = 100;
};

/// The member `base` is the first of each fake object, so that a pointer to it is one to the whole.
template <typename Fake, typename Base>
Fake& whole(Base* base) {
  static_assert(offsetof(Fake, base) == 0);
  return *reinterpret_cast<Fake*>(base);
}

}  // namespace corail::test
