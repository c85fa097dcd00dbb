#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <utility>

namespace corail::test {

/// An interface of the guest that is down for as long as this lives, or until mend(): a case that
/// fails leaves none down. Rail I is on "veI", control connections are on "lo".
class LinkCut {
 public:
  explicit LinkCut(std::string name) : name_(std::move(name)) { set("down"); }
  ~LinkCut() { mend(); }
  LinkCut(const LinkCut&) = delete;
  LinkCut& operator=(const LinkCut&) = delete;

  void mend() {
    if (std::exchange(cut_, false)) set("up");
  }

 private:
  void set(const std::string& state) const {
    const std::string command = "ip link set " + name_ + " " + state;
    BOOST_TEST(std::system(command.c_str()) == 0);
  }

  const std::string name_;
  bool cut_ = true;
};

}  // namespace corail::test
