#include "engine/rail/verbs/verbs_path.h"

#include <fmt/core.h>

#include "engine/verbs/path_choice.h"

namespace corail {

Result<QueuePairPath> path_between(const Greeting& own, std::size_t own_pair, const Greeting& peer,
                                   std::size_t peer_pair, std::uint32_t gid_index,
                                   std::uint8_t port) {
  if (peer_pair >= peer.pairs.size() || own_pair >= own.pairs.size()) {
    return Error(Errc::kProtocol, Stage::kConnect,
                 fmt::format("the other end of the rail named {} queue pairs, this one {}",
                             peer.pairs.size(), own.pairs.size()));
  }
  if (own.link != peer.link) {
    return Error(Errc::kIncompatible, Stage::kConnect,
                 "one end of the rail is Ethernet, the other InfiniBand; pair ports of one kind");
  }
  QueuePairPath path;
  path.port = port;
  path.link = own.link;
  path.mtu_bytes = path_mtu(own.mtu_bytes, peer.mtu_bytes);
  if (path.mtu_bytes == 0) {
    return Error(Errc::kProtocol, Stage::kConnect,
                 fmt::format("MTUs of {} and {} bytes are none", own.mtu_bytes, peer.mtu_bytes));
  }
  path.gid_index = gid_index;
  path.peer_gid = peer.gid;
  path.peer_lid = peer.lid;
  path.peer_number = peer.pairs[peer_pair].number;
  path.peer_psn = peer.pairs[peer_pair].psn;
  path.own_psn = own.pairs[own_pair].psn;
  path.reads_sent = reads_under_way(own.reads_sent, peer.reads_answered);
  path.reads_answered = reads_under_way(peer.reads_sent, own.reads_answered);
  return path;
}

}  // namespace corail
