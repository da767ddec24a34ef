#include "compiler_gym/llvm/codegen.h"

#include <atomic>
#include <memory>

#include "closed_thread.h"
#include "compiler_gym/llvm/codegen_options.h"
#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/retarget.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/WholeProgramDevirt.h"
#include "options.h"
#include "options_in_force.h"
#include "pass_runner.h"
#include "reader.h"
#include "target.h"

namespace compiler_gym::llvm {
namespace {

struct Compilation {
  std::string reported_errors;
  ::llvm::LLVMContext context;
  Fragile<::llvm::Module> module;
  std::unique_ptr<::llvm::TargetMachine> machine;
  ::llvm::legacy::PassManager passes;
};

// The extra contents of an object, in addition to llc's output.
enum class Extra { None, Blocks, Sections, Text };

bool is_scalable(const ::llvm::Value* value) { return value->getType()->isScalableTy(); }

bool is_scalable(const ::llvm::Instruction& instruction) {
  if (is_scalable(&instruction) || ::llvm::any_of(instruction.operand_values(), [](auto* operand) {
        return is_scalable(operand);
      })) {
    return true;
  }
  if (const auto* place = ::llvm::dyn_cast<::llvm::AllocaInst>(&instruction)) {
    return place->getAllocatedType()->isScalableTy();
  }
  if (const auto* address = ::llvm::dyn_cast<::llvm::GetElementPtrInst>(&instruction)) {
    return address->getSourceElementType()->isScalableTy();
  }
  const auto* call = ::llvm::dyn_cast<::llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == ::llvm::Intrinsic::vscale;
}

// LLVM's selection of x86 instructions ends the process if it meets one of these.
void refuse_scalable_vectors(const ::llvm::Module& module) {
  for (const auto& function : module) {
    const bool is_met =
        !function.isDeclaration() &&
        (function.getReturnType()->isScalableTy() ||
         ::llvm::any_of(function.args(),
                        [](const auto& argument) { return is_scalable(&argument); }) ||
         ::llvm::any_of(::llvm::instructions(function),
                        [](const auto& instruction) { return is_scalable(instruction); }));
    if (is_met) {
      throw UnsupportedError("x86 has no scalable vectors, which '" + function.getName().str() +
                             "' uses: compile the program for vectors of a fixed size");
    }
  }
}

std::atomic<bool> assembly_may_read{false};

bool is_assembly(const ::llvm::Instruction& instruction) {
  const auto* call = ::llvm::dyn_cast<::llvm::CallBase>(&instruction);
  return call && call->isInlineAsm();
}

bool has_assembly(const ::llvm::Module& module) {
  return !module.getModuleInlineAsm().empty() ||
         ::llvm::any_of(module, [](const ::llvm::Function& function) {
           return ::llvm::any_of(::llvm::instructions(function),
                                 [](const auto& instruction) { return is_assembly(instruction); });
         });
}

// Assembler has many spellings for opening a file, including macros: the kernel refuses to open
// any.
void run_passes(Compilation& compilation) {
  const auto run = [&] { compilation.passes.run(*compilation.module); };
  if (assembly_may_read || !has_assembly(*compilation.module)) return run();
  if (!run_without_files(run)) {
    throw UnsupportedError(
        "the program has inline assembly, and this kernel cannot prevent it from reading files, "
        "because it lacks seccomp");
  }
}

bool tried_to_read(const std::string& errors) {
  return !assembly_may_read && (errors.find("Could not find incbin file") != std::string::npos ||
                                errors.find("Could not find include file") != std::string::npos);
}

// If a RISC-V linker may shorten code, the assembler cannot compute the size of a block.
void disable_linker_relaxation(::llvm::Module& module) {
  for (auto& function : module) {
    auto features = function.getFnAttribute("target-features").getValueAsString().str();
    const auto at = features.find("+relax");
    if (at == std::string::npos) continue;
    features[at] = '-';
    function.addFnAttr("target-features", features);
  }
}

// Passes without which code generation fails, by the intrinsics that need them. clang runs them at
// every level, so a user's sequence of passes need not include them.
struct Lowering {
  const char* prefix;
  const char* pipeline;
};

constexpr Lowering lowerings[] = {
    {"llvm.coro.", "coro-cond(coro-early,cgscc(coro-split),coro-cleanup,globaldce)"},
    {"llvm.matrix.", "function(lower-matrix-intrinsics)"},
    {"llvm.type.checked.load", "wholeprogramdevirt"},
    {"llvm.type.test", "lowertypetests"},  // including those from the pass before it
    {"llvm.instrprof.", "instrprof"},
    {"llvm.experimental.guard", "function(lower-guard-intrinsic)"},
};

void lower_intrinsics(::llvm::Module& module) {
  ::llvm::updatePublicTypeTestCalls(module, /*WholeProgramVisibilityEnabledInLTO=*/false);
  for (const auto& [prefix, pipeline] : lowerings) {
    const bool is_needed = ::llvm::any_of(module, [&](const ::llvm::Function& function) {
      return !function.use_empty() && function.getName().starts_with(prefix);
    });
    if (!is_needed) continue;
    PassRunner runner(target_machine_for(module), module.getTargetTriple());
    runner.run(module, runner.parse(pipeline));
  }
}

// Refuse IR on which LLVM would crash.
void refuse_unsplit_coroutines(const ::llvm::Module& module) {
  for (const auto& function : module) {
    if (function.use_empty() || !function.getName().starts_with("llvm.coro.")) continue;
    throw UnsupportedError("code cannot be generated: " + function.getName().str() +
                           " is left after coroutines are lowered");
  }
}

std::string emit_unguarded(std::string_view bitcode, Extra extra) {
  start();
  const UsualOptions usual;
  const auto compilation = make_fragile<Compilation>();
  auto& [errors, context, module, machine, passes] = *compilation;
  collect_errors(context, errors);
  ::llvm::SmallString<0> object;
  ::llvm::raw_svector_ostream out(object);
  // Code generation rewrites the module: it gets a separate one, read from the bytes so that the
  // result depends on them alone.
  module = read_module(bitcode, "", context);
  // Like llc: a module without a triple gets code for this one.
  if (module->getTargetTriple().empty()) {
    module->setTargetTriple(::llvm::Triple(known_machines().front().triple));
  }
  const OptionsInForce in_force(read_chosen_options(*module));
  machine = target_machine_for(
      *module, extra == Extra::Sections ? ::llvm::Reloc::PIC_ : in_force.machine().relocation,
      ::llvm::CodeGenOptLevel::Default, in_force.machine().options);
  if (!machine) {
    throw UnsupportedError("this build generates code for " + ::llvm::join(machines(), ", ") +
                           " only, not for the module's target '" +
                           module->getTargetTriple().str() + "'");
  }
  if (module->getTargetTriple().isX86()) refuse_scalable_vectors(*module);
  if (extra == Extra::Blocks) {
    const auto& triple = module->getTargetTriple();
    if (!triple.isOSBinFormatELF() || !triple.isArch64Bit()) {
      throw UnsupportedError(
          "block maps are made for 64-bit ELF objects only, not for the module's target '" +
          triple.str() + "'");
    }
    if (triple.isRISCV()) disable_linker_relaxation(*module);
    machine->Options.BBAddrMap = true;
    set_option("pgo-analysis-map", "bb-freq");  // does nothing without such a map
  }
  if (extra == Extra::Sections) {
    machine->Options.FunctionSections = machine->Options.DataSections = true;
    machine->Options.EmitAddrsig = true;  // without it, a linker that folds safely folds nothing
  }
  module->setDataLayout(machine->createDataLayout());
  lower_intrinsics(*module);
  refuse_unsplit_coroutines(*module);
  passes.add(new ::llvm::TargetLibraryInfoWrapperPass(module->getTargetTriple()));
  const auto kind = extra == Extra::Text ? ::llvm::CodeGenFileType::AssemblyFile
                                         : ::llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, out, nullptr, kind, /*DisableVerify=*/true)) {
    throw UnsupportedError("the target writes no object files");
  }
  run_passes(*compilation);
  if (tried_to_read(errors)) {
    throw DiagnosticError(
        "inline assembly of this program reads a file, which is only permitted for the user's own "
        "programs: " +
        trimmed(errors));
  }
  if (!errors.empty()) throw DiagnosticError(trimmed(errors));
  return object.str().str();
}

// Code is generated from a copy in a separate context: if LLVM gives up on it, the module stays
// unchanged, and its session continues.
std::string emit(std::string_view bitcode, Extra extra) {
  try {
    return emit_unguarded(bitcode, extra);
  } catch (const FatalError& error) {
    throw UnsupportedError(std::string("code cannot be generated for this program: ") +
                           error.what());
  }
}

}  // namespace

void let_assembly_read_files(bool may) { assembly_may_read = may; }

std::string emit_object(std::string_view bitcode) { return emit(bitcode, Extra::None); }

std::string emit_object_in_sections(std::string_view bitcode) {
  return emit(bitcode, Extra::Sections);
}

std::string emit_object_with_blocks(std::string_view bitcode) {
  return emit(bitcode, Extra::Blocks);
}

std::string emit_assembly(std::string_view bitcode) { return emit(bitcode, Extra::Text); }

std::uint64_t count_text_bytes(std::string_view object) {
  const ::llvm::MemoryBufferRef buffer(::llvm::StringRef(object.data(), object.size()), "object");
  auto file = ::llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) throw InitError(::llvm::toString(file.takeError()));
  std::uint64_t size = 0;
  for (const auto& section : (*file)->sections()) {
    if (section.isText()) size += section.getSize();
  }
  return size;
}

}  // namespace compiler_gym::llvm
