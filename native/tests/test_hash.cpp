#include "compiler_gym/llvm/hash.h"

#include <doctest/doctest.h>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;
using compiler_gym::tests::loop;

TEST_CASE("a hash depends on the IR and not on the context or on earlier hashes") {
  ::llvm::LLVMContext one, two;
  const auto first = read_module(loop, "a", one);
  const auto second = read_module(loop, "b", two);
  Hasher hasher, fresh;
  const auto hash = hasher(*first);
  CHECK(hash == fresh(*second));
  CHECK(hash == hasher(*first));
}

TEST_CASE("a hash follows every edit and its reversal") {
  ::llvm::LLVMContext context;
  const auto module = read_module(loop, "", context);
  auto& function = *module->getFunction("sum");
  Hasher hasher;
  const auto before = hasher(*module);

  auto& sum = *std::find_if(function.begin(), function.end(), [](auto& block) {
                 return block.size() > 5;
               })->getIterator();
  for (auto& instruction : sum) {
    if (instruction.getOpcode() != ::llvm::Instruction::Add) continue;
    instruction.setHasNoSignedWrap(false);
    CHECK(hasher(*module) != before);
    instruction.setHasNoSignedWrap(true);
    CHECK(hasher(*module) == before);
  }

  function.addFnAttr("key", "value");
  CHECK(hasher(*module) != before);
  function.removeFnAttr("key");
  CHECK(hasher(*module) == before);

  module->setModuleInlineAsm("nop");
  CHECK(hasher(*module) != before);
}

TEST_CASE("constants that no code uses any more leave no trace") {
  ::llvm::LLVMContext context;
  const auto module = read_module(
      "@g = global i32 0\n@h = global i32 0\n"
      "define void @f() { store i32 1, ptr @g\n store i32 2, ptr @g\n ret void }",
      "", context);
  Hasher hasher;
  const auto before = hasher(*module);
  auto* global = module->getNamedGlobal("g");
  // A constant expression keeps using the global although nothing uses it.
  ::llvm::ConstantExpr::getPtrToInt(global, ::llvm::Type::getInt64Ty(context));
  CHECK(hasher(*module) == before);
}
