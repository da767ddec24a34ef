#include "use_orders.h"

#include <doctest/doctest.h>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

// The uses of @g stand in their list as three, two, one.
constexpr std::string_view program = R"(
@g = global i32 0
define ptr @one() { ret ptr @g }
define ptr @two() { ret ptr @g }
define ptr @three() { ret ptr @g }
)";

struct Visited {
  // What a pass does that makes the same code again.
  void visit(const char* name) {
    auto& function = *module->getFunction(name);
    auto* old = function.front().getTerminator();
    Piece before, after;
    reader.read_body(function, before);
    old->clone()->insertBefore(old->getIterator());
    old->eraseFromParent();
    reader.read_body(function, after);
    orders.visited(before, after, before.next_uses != after.next_uses);
  }

  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module = read_module(program, "", context);
  PieceReader reader;
  UseOrders orders;
};

}  // namespace

TEST_CASE("an order differs until every use has moved to where it was") {
  Visited visited;
  const auto& global = *visited.module->getNamedGlobal("g");
  const auto* first = global.use_begin()->getUser();
  const auto name_of = [](const ::llvm::User* user) {
    return ::llvm::cast<::llvm::Instruction>(user)->getFunction()->getName().str();
  };
  const auto* second = std::next(global.use_begin())->getUser();
  const auto* third = std::next(global.use_begin(), 2)->getUser();
  const auto last = name_of(third), middle = name_of(second), front = name_of(first);
  CHECK(!visited.orders.differ());
  visited.visit(last.c_str());
  CHECK(visited.orders.differ());
  visited.visit(middle.c_str());
  CHECK(visited.orders.differ());
  visited.visit(front.c_str());
  CHECK(!visited.orders.differ());
}

TEST_CASE("what stays at the front of its list keeps its order") {
  Visited visited;
  const auto* first = visited.module->getNamedGlobal("g")->use_begin()->getUser();
  const auto name = ::llvm::cast<::llvm::Instruction>(first)->getFunction()->getName().str();
  visited.visit(name.c_str());
  CHECK(visited.orders.empty());
}

TEST_CASE("what is forgotten does not differ") {
  Visited visited;
  visited.visit("one");
  visited.visit("two");
  visited.visit("three");
  visited.orders.clear();
  CHECK(!visited.orders.differ());
}
