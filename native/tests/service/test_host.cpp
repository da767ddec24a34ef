#include "compiler_gym/service/host.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

using namespace compiler_gym::service;

namespace {

class Locked : public Host {
 public:
  void* unlock() override {
    calls.push_back('u');
    return this;
  }
  void lock(void* state) override {
    CHECK(state == this);
    calls.push_back('l');
    errno = 0;
  }

  std::vector<char> calls;
};

}  // namespace

TEST_CASE("work without the lock keeps its result and its errno") {
  Locked host;
  const int result = unlocked(host, [&] {
    host.calls.push_back('a');
    errno = EPIPE;
    return 4;
  });
  CHECK(result == 4);
  CHECK(errno == EPIPE);
  CHECK(host.calls == std::vector<char>{'u', 'a', 'l'});
}

TEST_CASE("a plain host allocates memory itself") {
  Host host;
  const Bytes bytes = host.make_bytes(5);
  CHECK(bytes.is_valid());
  CHECK(bytes.view().size() == 5);
  CHECK(host.make_bytes(0).is_valid());
}
