#include "compiler_gym/llvm/codegen.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "programs.h"

using namespace compiler_gym::llvm;

TEST_CASE("object code is ELF with machine code in it") {
  const auto object = object_code_of(compiler_gym::tests::loop);
  CHECK(object.substr(1, 3) == "ELF");
  const auto size = text_size_of(object);
  CHECK(size > 10);
  CHECK(size < 200);
}

TEST_CASE("an object in sections is another with the same functions") {
  const auto plain = object_code_of(compiler_gym::tests::loop);
  const auto object = object_code_in_sections_of(compiler_gym::tests::loop);
  CHECK(object.find(".text.sum") != std::string::npos);
  CHECK(plain.find(".text.sum") == std::string::npos);
  CHECK(text_size_of(object) == text_size_of(plain));
}

TEST_CASE("assembly is the text of the object") {
  const auto text = assembly_of(compiler_gym::tests::loop);
  CHECK(text.find("sum:") != std::string::npos);
  CHECK(text.find("@function") != std::string::npos);
  CHECK_THROWS_AS(assembly_of("nonsense"), InitError);
}

TEST_CASE("foreign targets and foreign bytes are refused") {
  CHECK_THROWS_AS(object_code_of("target triple = \"armv7\"\ndefine void @f() { ret void }"),
                  UnsupportedError);
  CHECK_THROWS_AS(object_code_of("nonsense"), InitError);
  CHECK_THROWS_AS(text_size_of("nonsense"), InitError);
}
