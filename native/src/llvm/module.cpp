#include "compiler_gym/llvm/module.h"

#include <new>
#include <optional>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "pass_runner.h"
#include "target.h"

using ::llvm::raw_string_ostream;
using ::llvm::StringRef;

namespace compiler_gym::llvm {
namespace {

using IrModule = ::llvm::Module;

// LLVM's own handler prints, and ends the process at the first error.
struct ErrorCollector : ::llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string& errors) : errors(errors) {}

  bool handleDiagnostics(const ::llvm::DiagnosticInfo& diagnostic) override {
    if (diagnostic.getSeverity() != ::llvm::DS_Error) return true;
    raw_string_ostream out(errors);
    ::llvm::DiagnosticPrinterRawOStream printer(out);
    diagnostic.print(printer);
    out << '\n';
    return true;
  }

  std::string& errors;
};

std::string trimmed(const std::string& message) { return StringRef(message).trim().str(); }

std::unique_ptr<IrModule> parse(std::string_view data, const std::string& name,
                                ::llvm::LLVMContext& context) {
  if (data.empty()) throw InitError("expected LLVM bitcode or textual IR, found no bytes");
  // The text parser reads one byte past the end and wants a zero there.
  const auto buffer =
      ::llvm::MemoryBuffer::getMemBufferCopy(StringRef(data.data(), data.size()), name);
  ::llvm::SMDiagnostic complaint;
  auto module = ::llvm::parseIR(buffer->getMemBufferRef(), complaint, context);
  if (!module) {
    std::string message;
    raw_string_ostream out(message);
    complaint.print(nullptr, out, /*ShowColors=*/false);
    throw InitError(trimmed(message));
  }
  return module;
}

}  // namespace

struct Module::State {
  State() {
    // Names depend on the order of earlier passes; without them the IR is the state.
    context.setDiscardValueNames(true);
    context.setDiagnosticHandler(std::make_unique<ErrorCollector>(reported_errors));
  }

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

  // Destroyed in reverse: analyses before the module, the module before its context.
  std::string reported_errors;
  ::llvm::LLVMContext context;
  std::unique_ptr<IrModule> module;
  std::optional<PassRunner> kept_runner;
  Hasher hasher;
  std::optional<IrHash> kept_hash;
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
      state.module = parse(data, name, state.context);
      std::string complaint;
      raw_string_ostream out(complaint);
      if (::llvm::verifyModule(*state.module, &out)) throw InitError(trimmed(complaint));
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
    return state.current_hash() != before;
  });
}

std::string Module::bitcode() {
  return with_state([](State& state) {
    std::string bytes;
    raw_string_ostream out(bytes);
    ::llvm::WriteBitcodeToFile(*state.module, out, /*ShouldPreserveUseListOrder=*/true);
    return bytes;
  });
}

std::string Module::text() {
  return with_state([](State& state) {
    std::string text;
    raw_string_ostream out(text);
    state.module->print(out, nullptr);
    const bool names_a_file = StringRef(text).starts_with("; ModuleID");
    return names_a_file ? text.substr(text.find('\n') + 1) : text;
  });
}

IrHash Module::hash() {
  return with_state([](State& state) { return state.current_hash(); });
}

std::size_t Module::instruction_count() {
  return with_state([](State& state) {
    std::size_t count = 0;
    for (const auto& function : *state.module) {
      for (const auto& block : function) count += block.size();
    }
    return count;
  });
}

void Module::verify() {
  with_state([](State& state) {
    std::string complaint;
    raw_string_ostream out(complaint);
    if (::llvm::verifyModule(*state.module, &out)) throw InvalidIrError(trimmed(complaint));
  });
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
