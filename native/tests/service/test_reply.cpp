#include "compiler_gym/service/reply.h"

#include <doctest/doctest.h>

#include <string>

#include "sockets.h"

using namespace compiler_gym::service;
using compiler_gym::tests::usual_reply;

TEST_CASE("a usual reply says what was seen, what it cost, and where it was computed") {
  const std::string message = usual_reply("12345678", true);
  const auto stepped = read_stepped(message);
  REQUIRE(stepped);
  CHECK(stepped->is_usual);
  CHECK(stepped->no_effect);
  CHECK(stepped->observation_count == 2);
  CHECK(stepped->observation(0)->bytes == "12345678");
  CHECK(stepped->observation(1)->integer == 7);
  CHECK(!stepped->observation(2));
  CHECK(stepped->core == 3);
  CHECK(stepped->seconds == 0.5);
}

TEST_CASE("a reply that ends the episode, or says more, is not usual") {
  for (const auto& [at, byte] : {std::pair<std::size_t, char>{2, '\xc3'},
                                 {3, '\x90'},
                                 {4, '\x05'},
                                 {17, '\x02'},
                                 {18, '\xc3'},
                                 {19, '\x90'}}) {
    std::string message = usual_reply();
    message[at] = byte;
    CAPTURE(at);
    const auto stepped = read_stepped(message);
    REQUIRE(stepped);
    CHECK(!stepped->is_usual);
  }
}

TEST_CASE("another message, a part of one, or more than one is nothing") {
  const std::string whole = usual_reply();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(!read_stepped(std::string_view(whole).substr(0, size)));
  }
  CHECK(!read_stepped(whole + "x"));
  std::string other = whole;
  other[1] = static_cast<char>(stepped_tag + 1);
  CHECK(!read_stepped(other));
  other = whole;
  other[0] = '\x99';
  CHECK(!read_stepped(other));
}

TEST_CASE("what is nested too deep is not followed") {
  std::string message = usual_reply();
  message.replace(16, 1, std::string(100'000, '\x91') + '\x07');
  CHECK(!read_stepped(message));
}
