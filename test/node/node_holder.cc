// A holder for HolderProcess: node_holder BLOCKS SLOTS SEGMENT_BYTES RAILS. Says its control
// address on standard output, closes that, and then serves until it is killed.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "test/node/two_nodes.h"

int main(int argc, char** argv) {
  // A test program that crashes leaves nothing behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 5) return 2;
  try {
    corail::test::TwoNodes::Shape shape;
    shape.blocks = static_cast<std::uint32_t>(std::stoul(argv[1]));
    shape.slots = static_cast<std::uint32_t>(std::stoul(argv[2]));
    shape.segment_bytes = static_cast<std::uint32_t>(std::stoul(argv[3]));
    corail::test::TwoNodes nodes(shape, static_cast<std::uint32_t>(std::stoul(argv[4])), 1);
    nodes.save();
    std::fputs(nodes.holder().listen_address().c_str(), stdout);
    std::fclose(stdout);
    for (;;) ::pause();
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "node_holder: %s\n", exception.what());
    return 1;
  }
}
