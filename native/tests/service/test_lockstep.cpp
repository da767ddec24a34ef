#include "compiler_gym/service/lockstep.h"

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>

#include "sockets.h"

using namespace compiler_gym::service;
using compiler_gym::tests::bytes;
using compiler_gym::tests::framed;
using compiler_gym::tests::Pair;
using compiler_gym::tests::usual_reply;

namespace {

std::vector<Bytes> payloads(int count) {
  std::vector<Bytes> made;
  for (int i = 0; i < count; ++i) made.push_back(bytes("question"));
  return made;
}

}  // namespace

TEST_CASE("requests are held by all channels or by none") {
  Host host;
  const Pair one, two;
  Channel first(one.ours, host), second(two.ours, host);
  const std::vector<Channel*> both{&first, &second};
  CHECK_THROWS_AS(hold_all(both, payloads(1), {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(hold_all(both, payloads(2), {1}), std::invalid_argument);
  second.awaits = true;
  CHECK(!hold_all(both, payloads(2), {1, 1}));
  CHECK(!first.is_held());
  second.awaits = false;
  CHECK(hold_all(both, payloads(2), {1, 2}));
  CHECK(second.limit == 2);
  CHECK(!hold_all(both, payloads(2), {1, 1}));
}

TEST_CASE("usual replies fill their rows, and the others are left") {
  Host host;
  const Pair one, two, three;
  Channel first(one.ours, host), second(two.ours, host), third(three.ours, host);
  const std::vector<Channel*> all{&first, &second, &third};
  one.write(framed(usual_reply("abcdefgh", true)));
  two.write(framed("another message"));
  three.write(framed(usual_reply("too long for a row")));
  for (Channel* channel : all) {
    channel->awaits = true;
    CHECK(!channel->take_in());
  }
  std::array<char, 24> seen{};
  std::array<char, 3> no_effects{};
  const auto costs = settle(all, {seen.data(), 3, 8}, {no_effects.data(), 3, 1}, {0, 1, false});
  REQUIRE(costs.size() == 3);
  CHECK(std::get<std::int64_t>(*costs[0]) == 7);
  CHECK((!costs[1] && !costs[2]));
  CHECK(std::string_view(seen.data(), 8) == "abcdefgh");
  CHECK(std::string_view(seen.data() + 8, 16) == std::string(16, '\0'));
  CHECK(no_effects == std::array<char, 3>{1, 0, 0});
  CHECK((!first.awaits && second.awaits && third.awaits));
  CHECK((first.frame().empty() && second.frame() == "another message"));
}

TEST_CASE("a cost is of the kind that is asked for") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  std::array<char, 8> seen{};
  char no_effect = 0;
  pair.write(framed(usual_reply()));
  CHECK(!channel.take_in());
  const auto costs = settle({&channel}, {seen.data(), 1, 8}, {&no_effect, 1, 1}, {0, 1, true});
  CHECK(std::get<double>(*costs[0]) == 7.0);
  CHECK_THROWS_AS(settle({&channel}, {seen.data(), 2, 4}, {&no_effect, 1, 1}, {}),
                  std::invalid_argument);
  CHECK_THROWS_AS(settle({&channel}, {seen.data(), 1, 8}, {seen.data(), 1, 8}, {}),
                  std::invalid_argument);
}
