#include "encodings/pass.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/RegisterUsageInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/PassRegistry.h>
#include <iterator>

#include "encodings/rules.h"
#include "encodings/site.h"
#include "encodings/swap_registers.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

class Encodings : public llvm::MachineFunctionPass {
 public:
  static char ID;
  Encodings() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override { return "Short encodings for x86-64"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesCFG();
    usage.addRequired<llvm::MachineLoopInfoWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction&) override;
  bool doFinalization(llvm::Module&) override {
    Switches::get().report();
    return false;
  }

 private:
  bool rewrite_block(llvm::MachineBasicBlock&, Site&) const;

  llvm::SmallVector<Rule> rules_;
};

char Encodings::ID = 0;

bool Encodings::runOnMachineFunction(llvm::MachineFunction& function) {
  const llvm::Function& source = function.getFunction();
  if (!source.hasMinSize() || skipFunction(source) ||
      source.hasFnAttribute(llvm::Attribute::Naked) || function.shouldSplitStack() ||
      !function.getProperties().hasTracksLiveness())
    return false;
  if (rules_.empty()) {
    if (const std::string& path = Switches::get().encoding_path(); !path.empty())
      rules_.push_back(load_rule(path));
    for (const Rule& rule : all_rules())
      if (rule.rewrite && Switches::get().allows(rule.name)) rules_.push_back(rule);
  }
  llvm::ArrayRef<std::uint32_t> kept;
  if (auto* usage = getAnalysisIfAvailable<llvm::PhysicalRegisterUsageInfoWrapperLegacy>())
    kept = usage->getPRUI().getRegUsageInfo(source);
  const auto& loops = getAnalysis<llvm::MachineLoopInfoWrapperPass>().getLI();
  Site site(function, loops, kept);
  bool changed = false;
  if (site.rule = "swap-registers"; Switches::get().allows(site.rule))
    changed = swap_registers(site);
  for (llvm::MachineBasicBlock& block : function) changed |= rewrite_block(block, site);
  return changed;
}

// A rewrite can make another one possible, so the walk continues after the rewritten code.
bool Encodings::rewrite_block(llvm::MachineBasicBlock& block, Site& site) const {
  bool changed = false;
  site.start(block);
  for (auto here = block.rbegin(); here != block.rend();) {
    const auto above = std::next(here);
    bool rewritten = false;
    if (!here->isDebugInstr() && !here->isCFIInstruction())
      for (const Rule& rule : rules_) {
        site.rule = rule.name;
        rewritten = rule.rewrite(*here, site);
        if (rewritten) break;
      }
    if (!rewritten) {
      site.step_over(*here);
      here = above;
      continue;
    }
    changed = true;
    // Rules do not touch the code above: restart from the end, where the code below has changed.
    site.start(block);
    here = block.rbegin();
  }
  if (changed) llvm::recomputeLivenessFlags(block);
  return changed;
}

// For `llc -load=compiler_gym_size.so -run-pass=compiler-gym-encodings`.
const llvm::RegisterPass<Encodings> encodings_registration("compiler-gym-encodings",
                                                           "Short encodings for x86-64");

}  // namespace

llvm::FunctionPass* create_encodings_pass() { return new Encodings(); }

}  // namespace compiler_gym::linker
