#include "change_detector.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

constexpr std::string_view program = R"(
@g = global i32 0
@h = global i32 1
declare void @callee(ptr)
define void @one() {
  call void @callee(ptr @g)
  call void @callee(ptr @g)
  br label %loop
loop:
  br label %loop, !llvm.loop !0
}
define void @two() {
  call void @callee(ptr @g)
  br label %loop
loop:
  br label %loop, !llvm.loop !2
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
!2 = distinct !{!2, !1}
)";

// No pass in a table: its reports are never trusted.
struct Untrusted {
  static ::llvm::StringRef name() { return "Untrusted"; }
};
// A pass that is trusted in both directions.
struct Trusted {
  static ::llvm::StringRef name() { return "ADCEPass"; }
};

class Watched {
 public:
  explicit Watched(std::string_view text = program)
      : module(read_module(text, "", context)), detector([this] {
          ++wholes;
          return hasher(*module);
        }) {
    detector.listen_to(callbacks);
  }

  ::llvm::Function& function(const char* name) { return *module->getFunction(name); }
  ::llvm::Instruction& first_of(const char* name) { return function(name).front().front(); }
  ::llvm::Instruction& back_edge_of(const char* name) {
    return *function(name).back().getTerminator();
  }

  using Edit = std::function<void()>;
  template <class Pass, class Unit>
  void visit(Unit& unit, const Edit& edit, bool vouches = false) {
    const ::llvm::PassInstrumentation instrumentation(&callbacks);
    instrumentation.runBeforePass(Pass(), unit);
    edit();
    instrumentation.runAfterPass(
        Pass(), unit,
        vouches ? ::llvm::PreservedAnalyses::all() : ::llvm::PreservedAnalyses::none());
  }
  // Return whether an untrusted pass changed something, visiting each function or the module.
  bool changed_in_functions(const Edit& edit, bool is_one_pass = true) {
    detector.begin(is_one_pass);
    bool done = false;
    for (auto& function : *module) {
      if (function.isDeclaration()) continue;
      visit<Untrusted>(function, [&] {
        if (!std::exchange(done, true)) edit();
      });
    }
    return detector.changed();
  }
  bool changed_in_module(const Edit& edit) {
    detector.begin(true);
    visit<Untrusted>(*module, edit);
    return detector.changed();
  }
  // The three ways in which a pass may run.
  void check(bool expected, const Edit& edit, const Edit& undo) {
    for (int way = 0; way < 3; ++way) {
      CAPTURE(way);
      const auto before = hasher(*module);
      const bool changed = way == 2 ? changed_in_module(edit) : changed_in_functions(edit, way);
      CHECK(changed == expected);
      CHECK(changed == (hasher(*module) != before));
      CHECK(!changed_in_functions([] {}));
      undo();
    }
  }

  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module;
  Hasher hasher;
  ::llvm::PassInstrumentationCallbacks callbacks;
  int wholes = 0;
  ChangeDetector detector;
};

}  // namespace

TEST_CASE("an edit of an operand is seen, and so is its absence") {
  Watched watched;
  auto& call = watched.first_of("one");
  const auto set = [&](const char* name) {
    return [&, name] { call.setOperand(0, watched.module->getNamedGlobal(name)); };
  };
  watched.check(true, set("h"), set("g"));
  watched.check(false, [] {}, [] {});
}

TEST_CASE("a use that moved in the list of a global is a change") {
  Watched watched;
  auto& call = watched.first_of("one");
  auto* global = watched.module->getNamedGlobal("g");
  const auto move = [&](::llvm::Instruction& user) {
    user.setOperand(0, watched.module->getNamedGlobal("h"));
    user.setOperand(0, global);
  };
  // The first in the list stays the first.
  auto& last = *::llvm::cast<::llvm::Instruction>(global->use_begin()->getUser());
  watched.check(false, [&] { move(last); }, [] {});
  auto* order = &call == &last ? call.getNextNode() : &call;
  watched.check(
      true, [&] { move(*order); },
      [&] {
        order = &*::llvm::cast<::llvm::Instruction>(std::next(global->use_begin())->getUser());
      });
}

TEST_CASE("a recreated instruction is not a change") {
  Watched watched;
  const auto again = [&] {
    // The newest use comes first, so only the head of the list can be recreated.
    auto* old = ::llvm::cast<::llvm::Instruction>(
        watched.module->getNamedGlobal("g")->use_begin()->getUser());
    auto* made = old->clone();
    made->insertBefore(old->getIterator());
    old->eraseFromParent();
  };
  const auto before = watched.hasher(*watched.module);
  const bool changed = watched.changed_in_module(again);
  CHECK(changed == (watched.hasher(*watched.module) != before));
}

TEST_CASE("a pass that undoes its changes function by function changes nothing") {
  Watched watched;
  const auto make_again = [&](::llvm::Function& function) {
    for (auto& old : ::llvm::make_early_inc_range(function.front())) {
      if (!::llvm::isa<::llvm::CallInst>(old)) continue;
      old.clone()->insertBefore(old.getIterator());
      old.eraseFromParent();
    }
  };
  const auto run = [&](std::initializer_list<const char*> names) {
    const auto before = watched.hasher(*watched.module);
    watched.detector.begin(/*is_one_pass=*/true);
    for (const auto* name : names) {
      auto& function = watched.function(name);
      watched.visit<Untrusted>(function, [&] { make_again(function); });
    }
    const bool changed = watched.detector.changed();
    CHECK(changed == (watched.hasher(*watched.module) != before));
    return changed;
  };
  run({"one", "two"});
  // Each moves its uses to the front, so that their order is the original one.
  CHECK(!run({"one", "two"}));
  CHECK(!run({"one", "two"}));
  CHECK(run({"two", "one"}));
  CHECK(!run({"two", "one"}));
  CHECK(run({"two"}));
}

TEST_CASE("a distinct node may be replaced by its like, unless it is shared") {
  Watched watched;
  auto& branch = watched.back_edge_of("one");
  auto* old = branch.getMetadata("llvm.loop");
  auto* twin = watched.back_edge_of("two").getMetadata("llvm.loop");
  auto* fresh = ::llvm::MDNode::getDistinct(watched.context, {nullptr, old->getOperand(1)});
  fresh->replaceOperandWith(0, fresh);
  const auto set = [&](::llvm::MDNode* node) {
    return [&, node] { branch.setMetadata("llvm.loop", node); };
  };
  watched.check(false, set(fresh), set(old));
  watched.check(true, set(twin), set(old));
}

TEST_CASE("a symbol that a pass on functions adds or marks is a change") {
  Watched watched;
  auto& callee = watched.function("callee");
  watched.check(true, [&] { callee.addFnAttr("key"); }, [&] { callee.removeFnAttr("key"); });
  ::llvm::GlobalVariable* table = nullptr;
  watched.check(
      true,
      [&] {
        auto* type = ::llvm::Type::getInt32Ty(watched.context);
        table = new ::llvm::GlobalVariable(*watched.module, type, true,
                                           ::llvm::GlobalValue::PrivateLinkage,
                                           ::llvm::ConstantInt::get(type, 7), "table");
      },
      [&] { table->eraseFromParent(); });
}

TEST_CASE("changes that later passes undo are not a change") {
  Watched watched;
  auto& call = watched.first_of("one");
  auto& one = watched.function("one");
  auto* global = watched.module->getNamedGlobal("g");
  auto* other = watched.module->getNamedGlobal("h");
  call.setOperand(0, other);
  watched.detector.begin(/*is_one_pass=*/false);
  watched.visit<Trusted>(one, [&] { call.setOperand(0, global); });
  watched.visit<Trusted>(one, [&] { call.setOperand(0, other); });
  CHECK(!watched.detector.changed());
}

TEST_CASE("a pass of which it was measured is believed") {
  Watched watched;
  auto& one = watched.function("one");
  watched.detector.begin(true);
  watched.visit<Trusted>(one, [] {}, /*vouches=*/true);
  CHECK(!watched.detector.any_claim());
  CHECK(!watched.detector.changed());
  watched.detector.begin(true);
  watched.visit<Trusted>(one, [] {}, /*vouches=*/false);
  CHECK(watched.detector.changed());
}

TEST_CASE("LCSSA is not believed where blocks cannot be reached") {
  struct Lcssa {
    static ::llvm::StringRef name() { return "LCSSAPass"; }
  };
  const std::string text =
      "define i32 @one(i32 %a) {\n  ret i32 0\ndead:\n  ret i32 %a\n}\n"
      "define i32 @two(i32 %a) {\n  ret i32 %a\n}\n";
  Watched watched(text);
  auto& one = watched.function("one");
  auto* type = one.getReturnType();
  const auto run = [&](::llvm::Function& function, const Watched::Edit& edit) {
    watched.detector.begin(true);
    watched.visit<Lcssa>(function, edit, /*vouches=*/true);
    return watched.detector.changed();
  };
  CHECK(!run(one, [] {}));
  auto& end = *one.back().getTerminator();
  CHECK(run(one, [&] { end.setOperand(0, ::llvm::PoisonValue::get(type)); }));
  CHECK(!run(one, [] {}));
  watched.detector.begin(true);
  watched.visit<Lcssa>(watched.function("two"), [] {}, /*vouches=*/true);
  CHECK(!watched.detector.any_claim());
}

TEST_CASE("without a question nothing is hashed") {
  Watched watched;
  watched.detector.begin(true, /*is_asked=*/false);
  watched.visit<Untrusted>(*watched.module, [] {});
  CHECK(watched.detector.changed());
  watched.detector.begin(true, /*is_asked=*/false);
  CHECK(!watched.detector.changed());
  CHECK(!watched.changed_in_module([] {}));
}

TEST_CASE("only where a pass is not believed is the module hashed") {
  Watched watched;
  auto& one = watched.function("one");
  watched.detector.begin(true);
  watched.visit<Trusted>(one, [] {}, /*vouches=*/false);
  CHECK(watched.detector.changed());
  CHECK(watched.wholes == 0);
  CHECK(!watched.changed_in_functions([] {}));
  CHECK(watched.wholes == 2);
}

TEST_CASE("a listener receives the passes of one run") {
  Watched watched;
  auto& one = watched.function("one");
  int heard = 0;
  watched.detector.begin(true, true, [&](::llvm::StringRef, bool) { ++heard; });
  watched.visit<Trusted>(one, [] {}, /*vouches=*/true);
  CHECK(!watched.detector.changed());
  watched.detector.begin(true);
  watched.visit<Trusted>(one, [] {}, /*vouches=*/true);
  CHECK(heard == 1);
}
