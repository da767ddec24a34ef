#include "compiler_gym/llvm/codegen.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "programs.h"

using namespace compiler_gym::llvm;

TEST_CASE("object code is ELF with machine code in it") {
  const auto object = emit_object(compiler_gym::tests::loop);
  CHECK(object.substr(1, 3) == "ELF");
  const auto size = count_text_bytes(object);
  CHECK(size > 10);
  CHECK(size < 200);
}

TEST_CASE("an object in sections is another with the same functions") {
  const auto plain = emit_object(compiler_gym::tests::loop);
  const auto object = emit_object_in_sections(compiler_gym::tests::loop);
  CHECK(object.find(".text.sum") != std::string::npos);
  CHECK(plain.find(".text.sum") == std::string::npos);
  CHECK(count_text_bytes(object) == count_text_bytes(plain));
}

TEST_CASE("assembly is the text of the object") {
  const auto text = emit_assembly(compiler_gym::tests::loop);
  CHECK(text.find("sum:") != std::string::npos);
  CHECK(text.find("@function") != std::string::npos);
  CHECK_THROWS_AS(emit_assembly("nonsense"), InitError);
}

TEST_CASE("foreign targets and foreign bytes are refused") {
  CHECK_THROWS_AS(emit_object("target triple = \"armv7\"\ndefine void @f() { ret void }"),
                  UnsupportedError);
  CHECK_THROWS_AS(emit_object("nonsense"), InitError);
  CHECK_THROWS_AS(count_text_bytes("nonsense"), InitError);
}
