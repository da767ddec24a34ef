#include "compiler_gym/llvm/module.h"

#include <new>
#include <optional>
#include <string>
#include <utility>

#include "compiler_gym/llvm/codegen.h"
#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "pass_runner.h"
#include "reader.h"
#include "target.h"
#include "text_stream.h"

namespace compiler_gym::llvm {

struct Module::State {
  State() { collect_errors(context, reported_errors); }

  PassRunner& runner() {
    if (!kept_runner) {
      kept_runner.emplace(target_machine_for(*module), module->getTargetTriple());
    }
    return *kept_runner;
  }

  const IrHash& current_hash() {
    if (!kept_hash) kept_hash = hasher(*module);
    return *kept_hash;
  }

  void throw_reported_errors() {
    if (reported_errors.empty()) return;
    const std::string message = trimmed(std::exchange(reported_errors, {}));
    throw DiagnosticError(message);
  }

  void throw_if_too_large() const {
    const std::size_t count = hasher.instruction_count();
    if (!most_instructions || count <= most_instructions) return;
    throw TooLargeError(std::to_string(count) + " instructions, beyond the limit of " +
                        std::to_string(most_instructions));
  }

  // Destroyed in reverse: analyses before the module, the module before its context.
  std::string reported_errors;
  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module;
  std::optional<PassRunner> kept_runner;
  Hasher hasher;
  std::optional<IrHash> kept_hash;
  std::size_t most_instructions = 0;
};

// After a fatal error LLVM's data is in an unknown condition: it is leaked,
// because its destructors may not survive it.
template <class Work>
auto Module::with_state(Work&& work) {
  if (!state_) throw FatalError("this module was lost to an earlier error: " + lost_because_);
  try {
    return work(*state_);
  } catch (const FatalError& error) {
    lost_because_ = error.what();
    (void)state_.release();
    throw;
  } catch (const std::bad_alloc&) {
    lost_because_ = "out of memory";
    (void)state_.release();
    throw;
  }
}

Module::Module(std::string_view data, const std::string& name) {
  start();
  state_ = std::make_unique<State>();
  try {
    with_state([&](State& state) {
      state.module = read_module(data, name, state.context);
      const auto complaints = complaints_about(*state.module);
      if (!complaints.empty()) throw InitError(complaints);
    });
  } catch (const FatalError& error) {
    throw InitError(error.what());
  }
}

Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

bool Module::run(const std::string& pipeline) {
  return with_state([&](State& state) {
    auto passes = state.runner().parse(pipeline);
    const IrHash before = state.current_hash();
    state.kept_hash.reset();
    state.runner().run(*state.module, std::move(passes));
    state.throw_reported_errors();
    const bool changed = state.current_hash() != before;
    if (changed) state.throw_if_too_large();
    return changed;
  });
}

PassRecord Module::run_recorded(const std::string& pipeline) {
  PassRecord record;
  const auto before = with_state([](State& state) { return Snapshot(*state.module); });
  with_state([&](State& state) {
    const RemarkCollector collector(state.context, record.remarks);
    record.changed = run(pipeline);
  });
  inspect([&](const ::llvm::Module& now) { before.compare(now, record); });
  return record;
}

void Module::limit_instructions(std::size_t most) {
  with_state([&](State& state) { state.most_instructions = most; });
}

std::string Module::bitcode() {
  return with_state([](State& state) { return bitcode_of(*state.module); });
}

std::string Module::text() {
  return with_state([](State& state) {
    std::string text;
    {
      TextStream out(text);
      state.module->print(out, nullptr);
    }
    const bool names_a_file = ::llvm::StringRef(text).starts_with("; ModuleID");
    if (names_a_file) text.erase(0, text.find('\n') + 1);
    return text;
  });
}

IrHash Module::hash() {
  return with_state([](State& state) { return state.current_hash(); });
}

std::size_t Module::instruction_count() {
  return with_state([](State& state) {
    return state.kept_hash ? state.hasher.instruction_count() : count_instructions(*state.module);
  });
}

void Module::verify() {
  with_state([](State& state) {
    const auto complaints = complaints_about(*state.module);
    if (!complaints.empty()) throw InvalidIrError(complaints);
  });
}

void Module::set_goal(Goal goal) {
  with_state([&](State& state) {
    state.kept_hash.reset();
    llvm::set_goal(*state.module, goal);
  });
}

void Module::apply_level(Level level) {
  with_state([&](State& state) {
    state.kept_hash.reset();
    llvm::apply_level(*state.module, level);
    state.throw_reported_errors();
  });
}

void Module::change(const std::function<void(::llvm::Module&)>& work) {
  with_state([&](State& state) {
    state.kept_hash.reset();
    work(*state.module);
    state.throw_reported_errors();
  });
}

Autophase Module::autophase() {
  return with_state([](State& state) { return llvm::autophase(*state.module); });
}

InstCount Module::inst_count() {
  return with_state([](State& state) { return llvm::inst_count(*state.module); });
}

std::string Module::object_code() { return object_code_of(bitcode()); }

std::uint64_t Module::object_text_size() { return text_size_of(object_code()); }

void Module::inspect(const std::function<void(const ::llvm::Module&)>& look) {
  with_state([&](State& state) { look(*state.module); });
}

std::string Module::triple() {
  return with_state([](State& state) { return state.module->getTargetTriple().str(); });
}

std::string Module::data_layout() {
  return with_state([](State& state) { return state.module->getDataLayoutStr(); });
}

std::string Module::source_filename() {
  return with_state([](State& state) { return state.module->getSourceFileName(); });
}

}  // namespace compiler_gym::llvm
