#include "request.h"

#include <doctest/doctest.h>

#include "sockets.h"

using namespace compiler_gym::service;
using compiler_gym::tests::framed;
using compiler_gym::tests::Pair;
using compiler_gym::tests::usual_reply;

TEST_CASE("a deadline includes earlier computations and is extended for each sharer") {
  constexpr double forever = std::numeric_limits<double>::infinity();
  CHECK(extended(10, 2, 0, 0) == 10);
  CHECK(extended(10, 2, 3, 0) == 13);
  CHECK(extended(10, 2, 3, 2) == 17);
  CHECK(extended(long_ago, 2, 3, 2) == long_ago);
  CHECK(extended(forever, forever, 0, 0) == forever);
}

TEST_CASE("only a reply to a step says where it was computed") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  note_reply(channel);
  CHECK(channel.core == -1);
  pair.write(framed(usual_reply()));
  CHECK(!channel.take_in());
  note_reply(channel);
  CHECK(channel.core == 3);
  CHECK(channel.seconds == 0.5);
}
