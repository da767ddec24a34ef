#include "compiler_gym/service/reply.h"

#include <doctest/doctest.h>

#include <string>

#include "sockets.h"

using namespace compiler_gym::service;
using compiler_gym::tests::usual_reply;

TEST_CASE("a reply says where it was computed and how long it took") {
  const std::string message = usual_reply("12345678", true);
  const auto stepped = read_stepped(message);
  REQUIRE(stepped);
  CHECK(stepped->core == 3);
  CHECK(stepped->seconds == 0.5);
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

TEST_CASE("values that are nested too deeply are not read") {
  std::string message = usual_reply();
  message.replace(16, 1, std::string(100'000, '\x91') + '\x07');
  CHECK(!read_stepped(message));
}
