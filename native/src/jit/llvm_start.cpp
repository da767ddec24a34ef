#include "llvm_start.h"

#include <pthread.h>

#include <mutex>
#include <new>
#include <shared_mutex>

#include "compiler_gym/jit/errors.h"
#include "compiler_gym/jit/target.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86AsmParser();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace compiler_gym::jit {
namespace {

void give_up(void*, const char* reason, bool) { throw FatalError(reason); }

// The default handler prints errors and ends the process.
struct Complaints : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      throw FatalError(text);
    }
    return true;
  }
};

// Queried once: under a hypervisor each of the many queries takes microseconds.
const std::string& host_feature_list() {
  static const std::string list = [] {
    std::string joined;
    for (const auto& [name, is_there] : host_features()) {
      if (!joined.empty()) joined += ',';
      joined += is_there ? '+' : '-';
      joined += name;
    }
    return joined;
  }();
  return list;
}

// Work enters through `entrance`, so that no new work enters while a thread waits for all to leave.
struct Gate {
  std::mutex entrance;
  std::shared_mutex working;

  void go_in() {
    const std::lock_guard next(entrance);
    working.lock_shared();
  }
  void close() {
    entrance.lock();
    working.lock();
  }
  void open() {
    working.unlock();
    entrance.unlock();
  }
};

// Never destroyed: code may be freed while a process ends.
Gate& gate() {
  static auto* made = new Gate;
  return *made;
}

// The number of guards that this thread holds: code may be freed where other code is compiled.
thread_local int nesting = 0;

[[maybe_unused]] const int watches_forks = pthread_atfork(
    [] {
      if (nesting == 0) gate().close();
    },
    [] {
      if (nesting == 0) gate().open();
    },
    [] {  // the copy has one thread, which keeps its guards
      new (&gate()) Gate;
      if (nesting > 0) gate().go_in();
    });

// The analyses and passes of a pipeline. Destroyed in reverse: outer analyses hold proxies into
// inner ones.
struct Optimiser {
  explicit Optimiser(llvm::TargetMachine& machine) : builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::ModulePassManager passes;
};

llvm::CodeGenOptLevel codegen_level(int level) {
  if (level == 0) return llvm::CodeGenOptLevel::None;
  return level == 1 ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default;
}

}  // namespace

InLlvm::InLlvm() {
  if (nesting++ == 0) gate().go_in();
}

InLlvm::~InLlvm() {
  if (--nesting == 0) gate().working.unlock_shared();
}

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::install_fatal_error_handler(give_up);
  });
}

std::unique_ptr<llvm::LLVMContext> make_context() {
  auto context = std::make_unique<llvm::LLVMContext>();
  context->setDiagnosticHandler(std::make_unique<Complaints>());
  return context;
}

std::unique_ptr<llvm::Module> read_text(const std::string& ir, llvm::LLVMContext& context) {
  llvm::SMDiagnostic complaint;
  auto module = llvm::parseAssemblyString(ir, complaint, context);
  std::string words;
  llvm::raw_string_ostream stream(words);
  if (module == nullptr) {
    complaint.print("", stream, false);
    throw InvalidIrError("not textual LLVM IR: " + words);
  }
  if (llvm::verifyModule(*module, &stream)) {
    throw InvalidIrError("the IR does not verify: " + words);
  }
  return module;
}

std::unique_ptr<llvm::TargetMachine> machine_for(const std::string& triple, const std::string& cpu,
                                                 const std::string& features, int level) {
  const bool is_host = triple.empty();
  const llvm::Triple parsed(is_host ? host_triple() : triple);
  std::string complaint;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(parsed, complaint);
  if (target == nullptr) {
    throw TargetError("use a triple of x86_64 or nvptx64, not '" + parsed.str() +
                      "': " + complaint);
  }
  const bool is_gpu = parsed.isNVPTX();
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      parsed, is_host && cpu.empty() ? host_cpu() : cpu,
      is_host && features.empty() ? host_feature_list() : features, llvm::TargetOptions(),
      is_gpu ? std::nullopt : std::optional(llvm::Reloc::PIC_),
      is_gpu ? std::nullopt : std::optional(llvm::CodeModel::Small), codegen_level(level),
      /*JIT=*/is_host));
  if (machine == nullptr) throw TargetError("cannot generate code for '" + parsed.str() + "'");
  return machine;
}

void aim(llvm::Module& module, llvm::TargetMachine& machine) {
  const auto& wanted = machine.getTargetTriple();
  const auto& found = module.getTargetTriple();
  if (!found.empty() && found.getArch() != wanted.getArch()) {
    throw TargetError("the IR is for " + found.str() + ", but the target is " + wanted.str());
  }
  module.setTargetTriple(wanted);
  module.setDataLayout(machine.createDataLayout());
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level) {
  using llvm::OptimizationLevel;
  const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                      OptimizationLevel::O2, OptimizationLevel::O3};
  if (level < 0 || level > 3) return;
  const auto work = make_fragile<Optimiser>(machine);
  work->passes = level == 0 ? work->builder.buildO0DefaultPipeline(levels[0])
                            : work->builder.buildPerModuleDefaultPipeline(levels[level]);
  work->passes.run(module, work->modules);
}

}  // namespace compiler_gym::jit
