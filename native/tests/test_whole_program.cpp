#include "compiler_gym/llvm/whole_program.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/levels.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

constexpr auto closed_program = R"(
target triple = "x86_64-pc-linux-gnu"
define void @unused() {
  ret void
}
define ptr @memcpy(ptr %to, ptr %from, i64 %size) {
  ret ptr %to
}
define i32 @main() {
  ret i32 0
}
)";

struct Program {
  Program() { start(); }

  bool is_local(const char* name) { return module->getFunction(name)->hasLocalLinkage(); }

  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module = read_module(closed_program, "", context);
};

}  // namespace

TEST_CASE("a whole program keeps its entry and library functions visible") {
  Program one;
  CHECK(internalize(*one.module, {}) == std::vector<std::string>{"memcpy", "main"});
  CHECK(one.is_local("unused"));
  CHECK_FALSE(one.is_local("memcpy"));
  CHECK_FALSE(one.is_local("main"));
}

TEST_CASE("names in keep stay visible and must exist") {
  Program one;
  CHECK_THROWS_AS(internalize(*one.module, {"nowhere"}), InitError);
  CHECK_FALSE(one.is_local("unused"));
  CHECK(internalize(*one.module, {"unused"}).size() == 3);
  CHECK_FALSE(one.is_local("unused"));
}

TEST_CASE("a linker drops unused sections") {
  Program one;
  const auto linked = run_linked_level(std::move(one.module), Level::Oz, {});
  CHECK(linked->getFunction("unused") == nullptr);
  CHECK(linked->getFunction("main") != nullptr);
}
