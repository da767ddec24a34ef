#include "target.h"

#include <mutex>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/retarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::Triple;

void prepare_x86() {
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
}

void prepare_x86_tools() {
  LLVMInitializeX86Disassembler();
  LLVMInitializeX86TargetMCA();
}

#ifdef COMPILER_GYM_AARCH64
void prepare_aarch64() {
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
}
#endif

#ifdef COMPILER_GYM_RISCV
void prepare_riscv() {
  LLVMInitializeRISCVTarget();
  LLVMInitializeRISCVTargetMC();
  LLVMInitializeRISCVAsmPrinter();
  LLVMInitializeRISCVAsmParser();
}

void prepare_riscv_tools() {
  LLVMInitializeRISCVDisassembler();
  LLVMInitializeRISCVTargetMCA();
}
#endif

}  // namespace

const std::vector<KnownMachine>& known_machines() {
  static const std::vector<KnownMachine> machines = {
      {"x86_64", Triple::x86_64, "x86_64-pc-linux-gnu", "x86-64",
       "+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87", "skylake"},
#ifdef COMPILER_GYM_AARCH64
      {"aarch64", Triple::aarch64, "aarch64-unknown-linux-gnu", "generic",
       "+fp-armv8,+neon,+v8a,-fmv", "neoverse-n1"},
#endif
#ifdef COMPILER_GYM_RISCV
      {"riscv64", Triple::riscv64, "riscv64-unknown-linux-gnu", "generic-rv64",
       "+64bit,+a,+c,+d,+f,+i,+m,+relax,+zaamo,+zalrsc,+zca,+zcd,+zicsr,+zmmul", "sifive-u74"},
#endif
  };
  return machines;
}

const KnownMachine* known_machine(const Triple& triple) {
  if (!triple.isOSBinFormatELF() || triple.getEnvironment() == Triple::GNUX32 ||
      triple.getEnvironment() == Triple::GNUILP32) {
    return nullptr;
  }
  for (const auto& one : known_machines()) {
    if (one.arch == triple.getArch()) return &one;
  }
  return nullptr;
}

const char* find_simulated_processor(const Triple& triple) {
  // 32-bit x86 has no row, but the same instructions.
  const auto* machine = triple.isX86() ? &known_machines().front() : known_machine(triple);
  if (machine == nullptr) {
    throw UnsupportedError("machine code is read for " + ::llvm::join(machines(), ", ") +
                           " only, not for " + triple.str());
  }
  return machine->simulated;
}

// All names at once: while one thread adds a name to LLVM's list, no other may search it.
void register_targets() {
  LLVMInitializeX86TargetInfo();
#ifdef COMPILER_GYM_AARCH64
  LLVMInitializeAArch64TargetInfo();
#endif
#ifdef COMPILER_GYM_RISCV
  LLVMInitializeRISCVTargetInfo();
#endif
  prepare_x86();
}

void prepare_target(const Triple& triple) {
#ifdef COMPILER_GYM_AARCH64
  static std::once_flag aarch64;
  if (triple.isAArch64()) std::call_once(aarch64, prepare_aarch64);
#endif
#ifdef COMPILER_GYM_RISCV
  static std::once_flag riscv;
  if (triple.isRISCV()) std::call_once(riscv, prepare_riscv);
#endif
}

void prepare_tools(const Triple& triple) {
  prepare_target(triple);
  static std::once_flag x86;
  if (triple.isX86()) std::call_once(x86, prepare_x86_tools);
#ifdef COMPILER_GYM_AARCH64
  static std::once_flag aarch64;
  if (triple.isAArch64()) std::call_once(aarch64, LLVMInitializeAArch64Disassembler);
#endif
#ifdef COMPILER_GYM_RISCV
  static std::once_flag riscv;
  if (triple.isRISCV()) std::call_once(riscv, prepare_riscv_tools);
#endif
}

std::unique_ptr<::llvm::TargetMachine> target_machine_for(
    const ::llvm::Module& module, std::optional<::llvm::Reloc::Model> relocation,
    ::llvm::CodeGenOptLevel level, const ::llvm::TargetOptions& options) {
  const Triple& triple = module.getTargetTriple();
  if (triple.getArch() == Triple::UnknownArch) return nullptr;
  prepare_target(triple);
  std::string unused;
  const ::llvm::Target* target = ::llvm::TargetRegistry::lookupTarget(triple, unused);
  if (!target) return nullptr;
  // No CPU and no features: each function's attributes specify both.
  return std::unique_ptr<::llvm::TargetMachine>(target->createTargetMachine(
      triple, "", "", options, relocation, module.getCodeModel(), level));
}

}  // namespace compiler_gym::llvm
