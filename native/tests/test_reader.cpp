#include "reader.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Instructions.h"
#include "programs.h"

using namespace compiler_gym::llvm;
using compiler_gym::tests::loop;

TEST_CASE("text and its bitcode are the same module, without names of values") {
  ::llvm::LLVMContext context;
  std::string errors;
  collect_errors(context, errors);
  const auto text = read_module(loop, "a", context);
  const auto bitcode = read_module(bitcode_of(*text), "a", context);
  CHECK(bitcode_of(*text) == bitcode_of(*bitcode));
  for (const auto& argument : text->getFunction("sum")->args()) CHECK(!argument.hasName());
  CHECK(find_invalid_ir(*text).empty());
}

TEST_CASE("input that is not a module is refused with LLVM's message") {
  ::llvm::LLVMContext context;
  CHECK_THROWS_WITH_AS(read_module("", "a", context),
                       "the file is empty, but must contain LLVM bitcode or textual IR", InitError);
  CHECK_THROWS_AS(read_module("no module", "a", context), InitError);
  CHECK_THROWS_AS(read_module("BC\xc0\xde", "a", context), InitError);
}

TEST_CASE("errors are kept, a line each, and warnings are not") {
  ::llvm::LLVMContext context;
  std::string errors;
  collect_errors(context, errors);
  context.emitError("first");
  context.emitError("second");
  context.diagnose(::llvm::DiagnosticInfoGeneric("a warning", ::llvm::DS_Warning));
  CHECK(errors == "first\nsecond\n");
  CHECK(trimmed(" \n" + errors) == "first\nsecond");
}

TEST_CASE("the verifier's complaints are text") {
  ::llvm::LLVMContext context;
  const auto module = read_module("define void @f() { ret void }", "", context);
  module->getFunction("f")->front().back().eraseFromParent();
  CHECK(find_invalid_ir(*module).find("terminator") != std::string::npos);
}
