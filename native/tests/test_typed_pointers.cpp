#include "typed_pointers.h"

#include <doctest/doctest.h>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

TEST_CASE("a pointer gets its type from loads and stores through it") {
  ::llvm::LLVMContext context;
  const auto module = read_module(compiler_gym::tests::loop, "", context);
  const auto& function = *module->getFunction("sum");
  TypedPointers types;
  CHECK(types.type_of(*function.getArg(0)) == "i32*");
  CHECK(types.type_of(*function.getArg(1)) == "i32");
  CHECK(types.type_of(*::llvm::inst_begin(function)) == "i32*");
}

TEST_CASE("types are written as they are, and pointers of unknown content as bytes") {
  ::llvm::LLVMContext context;
  TypedPointers types;
  auto* const word = ::llvm::Type::getInt32Ty(context);
  CHECK(types.text(*word) == "i32");
  CHECK(types.text(*::llvm::ArrayType::get(word, 3)) == "[3 x i32]");
  CHECK(types.text(*::llvm::PointerType::get(context, 0)) == "i8*");
}
