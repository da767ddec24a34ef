#include "waiting.h"

#include <doctest/doctest.h>

#include "sockets.h"

using namespace compiler_gym::service;

TEST_CASE("time passes, and a sleep ends at its time or when there is something to read") {
  const compiler_gym::tests::Pair pair;
  pollfd looked_at{pair.ours, POLLIN, 0};
  const double before = seconds_now();
  CHECK(sleep_on(&looked_at, 1, 0.01) == 0);
  CHECK(seconds_now() - before >= 0.01);
  pair.write("x");
  CHECK(sleep_on(&looked_at, 1, 60) == 1);
  CHECK(sleep_on(&looked_at, 1, -1) == 1);
}
