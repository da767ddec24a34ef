#include "compiler_gym/jit/target.h"

#include "compiler_gym/jit/errors.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/TargetParser/Host.h"
#include "llvm_start.h"

namespace compiler_gym::jit {

std::string host_cpu() {
  static const std::string name = llvm::sys::getHostCPUName().str();
  return name;
}

std::string host_triple() { return llvm::sys::getProcessTriple(); }

std::map<std::string, bool> host_features() {
  std::map<std::string, bool> features;
  for (const auto& [name, is_there] : llvm::sys::getHostCPUFeatures()) {
    features[name.str()] = is_there;
  }
  return features;
}

int vector_bits() {
  static const int bits = [] {
    const auto features = llvm::sys::getHostCPUFeatures();
    if (features.lookup("avx512f")) return 512;
    return features.lookup("avx") ? 256 : 128;
  }();
  return bits;
}

int vector_registers() { return vector_bits() == 512 ? 32 : 16; }

std::string assembly(const std::string& ir, const std::string& triple, const std::string& cpu,
                     const std::string& features, int level) {
  const InLlvm in_llvm;
  start_llvm();
  struct State {
    std::unique_ptr<llvm::LLVMContext> context = make_context();
    std::unique_ptr<llvm::Module> module;
    std::unique_ptr<llvm::TargetMachine> machine;
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream{bytes};
    llvm::legacy::PassManager passes;
  };
  const auto work = make_fragile<State>();
  work->module = read_text(ir, *work->context);
  work->machine = machine_for(triple, cpu, features, level);
  aim(*work->module, *work->machine);
  optimise(*work->module, *work->machine, level);
  if (work->machine->addPassesToEmitFile(work->passes, work->stream, nullptr,
                                         llvm::CodeGenFileType::AssemblyFile)) {
    throw TargetError("the target writes no assembly");
  }
  work->passes.run(*work->module);
  return std::string(work->bytes.begin(), work->bytes.end());
}

}  // namespace compiler_gym::jit
