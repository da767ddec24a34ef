#include "text_stream.h"

#include <doctest/doctest.h>

using namespace compiler_gym::llvm;

TEST_CASE("all output arrives in order, with any contents of the buffer") {
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
