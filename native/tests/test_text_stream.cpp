#include "text_stream.h"

#include <doctest/doctest.h>

using namespace compiler_gym::llvm;

TEST_CASE("what is written is there in the end, in its order, whatever the buffer holds") {
  std::string text = "before ", expected = text;
  {
    TextStream out(text);
    for (int i = 0; i < 20'000; ++i) {
      out << i << ',';
      expected += std::to_string(i) + ",";
    }
    CHECK(out.tell() == expected.size());
  }
  CHECK(text == expected);
}
