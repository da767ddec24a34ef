#include "compiler_gym/llvm/ir2vec.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

std::string shipped() {
  return COMPILER_GYM_SOURCE "/src/compiler_gym/envs/llvm/observations/ir2vec_vocabulary.json";
}

}  // namespace

TEST_CASE("the vectors of functions add up to the program's") {
  const Ir2VecVocabulary vocabulary(shipped());
  REQUIRE(vocabulary.dimension() == 75);
  ::llvm::LLVMContext context;
  const auto module = read_module(compiler_gym::tests::loop, "", context);
  const auto symbolic = vocabulary.embed(*module, Ir2VecKind::Symbolic);
  CHECK(symbolic.names == std::vector<std::string>{"sum"});
  CHECK(symbolic.functions == symbolic.program);
  CHECK(symbolic.program != vocabulary.embed(*module, Ir2VecKind::FlowAware).program);
}

TEST_CASE("two vocabularies live side by side, and a missing one is an error") {
  const Ir2VecVocabulary one(shipped()), other(shipped());
  CHECK(one.dimension() == other.dimension());
  CHECK_THROWS_AS(Ir2VecVocabulary("/nowhere.json"), InitError);
}
