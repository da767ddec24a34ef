#include "choosing/trial.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/ScopeExit.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SaveAndRestore.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "choosing/gate.h"
#include "choosing/settings.h"
#include "compiler_gym/elf/function_bytes.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

// Drop diagnostics of the trial: the final code generation reports them again.
struct Silence : llvm::DiagnosticHandler {
  explicit Silence(bool& failed) : failed(failed) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& information) override {
    failed |= information.getSeverity() == llvm::DS_Error;
    return true;
  }
  bool& failed;
};

llvm::Function* add_variant(llvm::Function& function, const Setting& setting) {
  llvm::ValueToValueMapTy values;
  llvm::Function* variant = llvm::CloneFunction(&function, values);
  variant->setName(function.getName() + "." + setting.name + ".trial");
  variant->setComdat(nullptr);
  // A jump to the beginning of the same function is shorter than one to another function.
  function.replaceUsesWithIf(variant, [&](const llvm::Use& use) {
    const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    return user && user->getFunction() == variant;
  });
  if (function.hasAddressTaken()) llvm::appendToUsed(*function.getParent(), variant);
  apply(setting, *variant);
  return variant;
}

// A machine stores the sections and symbols of the code that it is generating, so the trial needs a
// separate one.
std::unique_ptr<llvm::TargetMachine> copy_machine(const llvm::TargetMachine& machine) {
  llvm::TargetOptions options = machine.Options;
  options.EnableMachineOutliner = false;  // it would move code from one variant into another
  options.FunctionSections = true;
  options.UniqueSectionNames = true;
  return std::unique_ptr<llvm::TargetMachine>(machine.getTarget().createTargetMachine(
      machine.getTargetTriple(), machine.getTargetCPU(), machine.getTargetFeatureString(), options,
      machine.getRelocationModel(), machine.getCodeModel(), machine.getOptLevel()));
}

bool generate_code(llvm::Module& module, const llvm::TargetMachine& original,
                   llvm::SmallVectorImpl<char>& object) {
  llvm::LLVMContext& context = module.getContext();
  bool failed = false;
  std::unique_ptr<llvm::DiagnosticHandler> handler = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<Silence>(failed));
  const auto speak =
      llvm::scope_exit([&] { context.setDiagnosticHandler(std::move(handler), true); });
  const llvm::SaveAndRestore trial(Switches::is_trial, true);
  const std::unique_ptr<llvm::TargetMachine> machine = copy_machine(original);
  llvm::legacy::PassManager passes;
  const llvm::TargetLibraryInfoImpl library(module.getTargetTriple(), machine->Options.VecLib);
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  llvm::raw_svector_ostream stream(object);
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return false;
  passes.run(module);
  return !failed;
}

}  // namespace

const Setting* Candidate::find_smallest() const {
  const Setting* smallest = nullptr;
  std::uint64_t fewest = plain;
  for (auto [setting, count] : llvm::zip_equal(settings, bytes))
    if (count && count < fewest) {
      smallest = setting;
      fewest = count;
    }
  return smallest;
}

bool measure(llvm::Module& module, const llvm::TargetMachine& machine, Gate& gate,
             std::vector<Candidate>& candidates) {
  llvm::DenseSet<const llvm::GlobalValue*> needed;
  for (const Candidate& candidate : candidates) needed.insert(candidate.function);
  for (const llvm::GlobalAlias& alias : module.aliases()) needed.insert(alias.getAliaseeObject());
  // Tables of block addresses can only refer to definitions.
  for (const llvm::Function& function : module)
    if (llvm::any_of(function, [](const auto& block) { return block.hasAddressTaken(); }))
      needed.insert(&function);
  llvm::ValueToValueMapTy values;
  const std::unique_ptr<llvm::Module> copy =
      llvm::CloneModule(module, values, [&](const llvm::GlobalValue* value) {
        return !llvm::isa<llvm::Function>(value) || needed.contains(value);
      });
  std::vector<std::vector<llvm::Function*>> variants;
  for (const Candidate& candidate : candidates) {
    auto& function = *llvm::cast<llvm::Function>(values[candidate.function]);
    variants.emplace_back();
    for (const Setting* setting : candidate.settings)
      variants.back().push_back(add_variant(function, *setting));
  }
  gate.watch(*copy);
  llvm::SmallVector<char, 0> object;
  if (!generate_code(*copy, machine, object)) return false;
  const auto bytes =
      elf::read_function_bytes({llvm::StringRef(object.data(), object.size()), "trial"});
  if (!bytes) return false;
  for (auto [candidate, functions] : llvm::zip_equal(candidates, variants)) {
    candidate.plain = bytes->lookup(candidate.function->getName());
    for (const llvm::Function* function : functions)
      candidate.bytes.push_back(bytes->lookup(function->getName()));
  }
  return true;
}

}  // namespace compiler_gym::linker
