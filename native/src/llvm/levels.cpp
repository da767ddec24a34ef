#include "compiler_gym/llvm/levels.h"

#include "compiler_gym/llvm/codegen_options.h"
#include "compiler_gym/llvm/whole_program.h"
#include "level_passes.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "pass_runner.h"
#include "reader.h"
#include "target.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::Attribute;
using ::llvm::OptimizationLevel;

struct LevelMarks {
  bool optsize = false;
  bool minsize = false;
};

// T is a function or a call, which carry the same marks.
template <typename T>
void mark(T& marked, Attribute::AttrKind kind, bool wanted) {
  if (wanted) {
    marked.addFnAttr(kind);
  } else {
    marked.removeFnAttr(kind);
  }
}

template <typename T>
void mark(T& marked, LevelMarks marks) {
  mark(marked, Attribute::OptimizeForSize, marks.optsize);
  mark(marked, Attribute::MinSize, marks.minsize);
}

// Clang marks the functions that it calls as well as those it defines, except intrinsics and inline
// assembly.
void mark_calls(::llvm::Function& function, LevelMarks marks) {
  for (auto& block : function) {
    for (auto& instruction : block) {
      auto* call = ::llvm::dyn_cast<::llvm::CallBase>(&instruction);
      if (call == nullptr || call->isInlineAsm()) continue;
      const auto* callee = call->getCalledFunction();
      if (callee != nullptr && callee->isIntrinsic()) continue;
      mark(*call, marks);
    }
  }
}

void mark_module(::llvm::Module& module, LevelMarks marks) {
  for (auto& function : module) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr(Attribute::OptimizeNone);
    mark(function, marks);
    mark_calls(function, marks);
  }
}

void switch_off(::llvm::Module& module) {
  mark_module(module, {});
  for (auto& function : module) {
    if (function.isDeclaration() || function.hasFnAttribute(Attribute::AlwaysInline)) continue;
    function.addFnAttr(Attribute::NoInline);
    function.addFnAttr(Attribute::OptimizeNone);
  }
}

// Clang's driver and frontend derive these from the level, PassBuilder does not.
::llvm::PipelineTuningOptions tuning_of(Level level) {
  ::llvm::PipelineTuningOptions tuning;
  const bool above_one = level != Level::O0 && level != Level::O1;
  tuning.LoopUnrolling = above_one;
  tuning.LoopInterleaving = above_one;
  tuning.LoopVectorization = above_one && level != Level::Oz;
  tuning.SLPVectorization = above_one;
  return tuning;
}

OptimizationLevel pipeline_of(Level level) {
  switch (level) {
    case Level::O0: return OptimizationLevel::O0;
    case Level::O1: return OptimizationLevel::O1;
    case Level::O2: return OptimizationLevel::O2;
    case Level::O3: return OptimizationLevel::O3;
    case Level::Os: return OptimizationLevel::Os;
    case Level::Oz:
    case Level::OptOz: return OptimizationLevel::Oz;
  }
  __builtin_unreachable();
}

// Clang's driver passes -O2 to the linker for -Os and -Oz; the function attributes do the rest.
OptimizationLevel linked_pipeline_of(Level level) {
  return level == Level::Os || level == Level::Oz ? OptimizationLevel::O2 : pipeline_of(level);
}

// The linker's own choice: neither level below -O2 vectorises.
::llvm::PipelineTuningOptions linked_tuning_of(Level level) {
  ::llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level != Level::O0 && level != Level::O1;
  return tuning;
}

// Clang builds position-independent code if the module requests it, and the costs of a target
// depend on it.
std::optional<::llvm::Reloc::Model> relocation_of(const ::llvm::Module& module) {
  if (module.getPICLevel() == ::llvm::PICLevel::NotPIC) return ::llvm::Reloc::Static;
  return ::llvm::Reloc::PIC_;
}

PassRunner clang_runner(const ::llvm::Module& module, const ::llvm::PipelineTuningOptions& tuning) {
  return {target_machine_for(module, relocation_of(module)), module.getTargetTriple(), tuning};
}

// A linker reads a file: the order of uses, on which passes depend, is that of the file's reader.
std::unique_ptr<::llvm::Module> through_a_file(const ::llvm::Module& module) {
  std::string bytes;
  ::llvm::raw_string_ostream out(bytes);
  ::llvm::WriteBitcodeToFile(module, out);
  // A merged debug type would keep the scopes, and so the compile unit, of the destroyed module.
  module.getContext().disableDebugTypeODRUniquing();
  return read_module(bytes, module.getModuleIdentifier(), module.getContext());
}

// Also from declarations: the attributes must not be in the file.
void take_marks_off(::llvm::Module& module) {
  choose_options(module, {});
  mark_module(module, {});
  for (auto& function : module) mark(function, LevelMarks{});
}

// Uses opt's target and tuning, which differ from clang's.
void run_as_opt(::llvm::Module& module, const std::string& pipeline) {
  PassRunner runner(target_machine_for(module), module.getTargetTriple());
  runner.run(module, runner.parse(pipeline));
}

}  // namespace

std::optional<Goal> goal_named(std::string_view name) {
  if (name == "size") return Goal::size;
  if (name == "speed") return Goal::speed;
  return std::nullopt;
}

std::optional<Level> level_named(std::string_view name) {
  constexpr std::string_view names[] = {"O0", "O1", "O2", "O3", "Os", "Oz", "OptOz"};
  for (std::size_t at = 0; at < std::size(names); ++at) {
    if (names[at] == name) return static_cast<Level>(at);
  }
  return std::nullopt;
}

void set_goal(::llvm::Module& module, Goal goal) {
  const bool size = goal == Goal::size;
  mark_module(module, {.optsize = size, .minsize = size});
}

std::unique_ptr<PassRunner> runner_at(const ::llvm::Module& module, Level level) {
  return std::make_unique<PassRunner>(target_machine_for(module, relocation_of(module)),
                                      module.getTargetTriple(), tuning_of(level));
}

void mark_for(::llvm::Module& module, Level level) {
  choose_options(module, {});  // clang would generate code with LLVM's default options
  if (level == Level::O0) {
    switch_off(module);
    return;
  }
  mark_module(module,
              {.optsize = level == Level::Os || level == Level::Oz, .minsize = level == Level::Oz});
}

::llvm::ModulePassManager passes_at(PassRunner& runner, Level level) {
  if (level == Level::O0) return runner.builder().buildO0DefaultPipeline(OptimizationLevel::O0);
  return runner.builder().buildPerModuleDefaultPipeline(pipeline_of(level));
}

void apply_level(::llvm::Module& module, Level level) {
  if (level == Level::OptOz) {
    take_marks_off(module);
    return run_as_opt(module, "default<Oz>");
  }
  const auto runner = runner_at(module, level);
  mark_for(module, level);
  runner->run(module, passes_at(*runner, level));
}

Fragile<::llvm::Module> run_linked_level(Fragile<::llvm::Module> module, Level level,
                                         const std::vector<std::string>& keep) {
  check_whole_program(*module, keep);
  if (level == Level::OptOz) {
    take_marks_off(*module);
    run_as_opt(*module, "lto-pre-link<Oz>");
    module = through_a_file(*module);
    internalize(*module, keep);
    run_as_opt(*module, "lto<Oz>");
    return module;
  }
  mark_for(*module, level);
  {
    auto compiler = clang_runner(*module, tuning_of(level));
    const auto pipeline = pipeline_of(level);
    constexpr auto before_linking = ::llvm::ThinOrFullLTOPhase::FullLTOPreLink;
    compiler.run(*module, level == Level::O0
                              ? compiler.builder().buildO0DefaultPipeline(pipeline, before_linking)
                              : compiler.builder().buildLTOPreLinkDefaultPipeline(pipeline));
  }
  module = through_a_file(*module);
  internalize(*module, keep);
  auto linker = clang_runner(*module, linked_tuning_of(level));
  linker.run(*module, linker.builder().buildLTODefaultPipeline(linked_pipeline_of(level), nullptr));
  return module;
}

}  // namespace compiler_gym::llvm
