#include "compiler_gym/llvm/features.h"

#include <doctest/doctest.h>

#include "llvm/IR/LLVMContext.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

struct Loop {
  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module = read_module(compiler_gym::tests::loop, "", context);

  std::int64_t feature(const std::string& name) const {
    const auto names = autophase_names();
    return autophase(*module).at(std::find(names.begin(), names.end(), name) - names.begin());
  }

  std::int64_t count(const std::string& name) const {
    const auto names = inst_count_names();
    return inst_count(*module).at(std::find(names.begin(), names.end(), name) - names.begin());
  }
};

}  // namespace

TEST_CASE("AutoPhase features of a loop") {
  Loop loop;
  CHECK(loop.feature("TotalInsts") == compiler_gym::tests::loop_instructions);
  CHECK(loop.feature("TotalBlocks") == 4);
  CHECK(loop.feature("NumEdges") == 4);
  CHECK(loop.feature("onePred") == 2);
  CHECK(loop.feature("twoEach") == 1);
  CHECK(loop.feature("BBNumArgsLo") == 1);
  CHECK(loop.feature("ArgsPhi") == 2);
  CHECK(loop.feature("CriticalCount") == 0);
  CHECK(loop.feature("binaryConstArg") == 1);
  CHECK(loop.feature("testUnary") == 4);
  CHECK(loop.feature("TotalMemInst") == 7);
  CHECK(loop.feature("BlockLow") == 4);
}

TEST_CASE("instruction counts of a loop") {
  Loop loop;
  CHECK(count_instructions(*loop.module) == compiler_gym::tests::loop_instructions);
  CHECK(loop.count("TotalInstsCount") == compiler_gym::tests::loop_instructions);
  CHECK(loop.count("TotalBlocksCount") == 4);
  CHECK(loop.count("TotalFuncsCount") == 1);
  CHECK(loop.count("LoadCount") == 3);
  CHECK(loop.count("AddCount") == 2);
  CHECK(loop.count("PHICount") == 1);
  CHECK(loop.count("FreezeCount") == 0);
}

TEST_CASE("opcodes younger than the vector are counted with their like") {
  ::llvm::LLVMContext context;
  const auto module = read_module(
      "define i64 @f(ptr %p) { %a = ptrtoaddr ptr %p to i64\n %b = ptrtoint ptr %p to i64\n"
      " %c = add i64 %a, %b\n ret i64 %c }",
      "", context);
  const auto names = inst_count_names();
  const auto at = std::find(names.begin(), names.end(), "PtrToIntCount") - names.begin();
  CHECK(inst_count(*module).at(at) == 2);
}

TEST_CASE("features of IR that does not verify are still numbers") {
  ::llvm::LLVMContext context;
  ::llvm::Module module("broken", context);
  auto* function =
      ::llvm::Function::Create(::llvm::FunctionType::get(::llvm::Type::getVoidTy(context), false),
                               ::llvm::GlobalValue::ExternalLinkage, "f", module);
  ::llvm::BasicBlock::Create(context, "", function);
  CHECK(autophase(module)[50] == 1);
  CHECK(inst_count(module)[1] == 1);
}
