#include "word_stream.h"

#include <doctest/doctest.h>

#include <string>

using compiler_gym::llvm::WordStream;

TEST_CASE("a digest depends on every word, past the size of a block too") {
  const auto digest = [](std::uint32_t size, std::uint32_t odd) {
    WordStream out;
    for (std::uint32_t at = 0; at < size; ++at) out.word(at == odd ? 1 : 0);
    return out.finish();
  };
  for (const std::uint32_t size : {1u, 4'092u, 4'093u, 20'000u}) {
    CHECK(digest(size, size) == digest(size, size + 1));
    CHECK(digest(size, 0) != digest(size, size));
    CHECK(digest(size, size - 1) != digest(size, size));
    CHECK(digest(size, size) != digest(size + 1, size + 1));
  }
}

TEST_CASE("a finished stream starts anew") {
  WordStream out;
  out.word(1);
  const auto first = out.finish();
  out.word(1);
  CHECK(out.finish() == first);
}

TEST_CASE("neighbouring texts do not run into each other") {
  const auto digest = [](std::string_view one, std::string_view two) {
    WordStream out;
    out.text(one);
    out.text(two);
    return out.finish();
  };
  CHECK(digest("ab", "c") != digest("a", "bc"));
  CHECK(digest("", "a") != digest("a", ""));
  CHECK(digest(std::string(100, 'x'), "") != digest(std::string(101, 'x'), ""));
}
