#include "choosing/pass.h"

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>
#include <string>

#include "choosing/gate.h"
#include "choosing/settings.h"
#include "choosing/trial.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

// What a function costs the code generator beside its instructions, in instructions.
constexpr unsigned function_cost = 10;

class Choosing : public llvm::ModulePass {
 public:
  static char ID;
  explicit Choosing(llvm::TargetMachine& machine) : ModulePass(ID), machine_(machine) {}

  llvm::StringRef getPassName() const override { return "Choose the smallest code"; }
  bool runOnModule(llvm::Module&) override;

 private:
  llvm::TargetMachine& machine_;
  std::unique_ptr<Gate> gate_;  // until the last pass of the pipeline has run
};

char Choosing::ID = 0;

unsigned cost(const llvm::Function& function) {
  return function.getInstructionCount() + function_cost;
}

// Leave out what cannot be cloned, or what calculates where its own instructions are.
bool can_choose(const llvm::Function& function) {
  if (function.isDeclarationForLinker() || !function.hasName() || !function.hasOptSize() ||
      function.hasOptNone() || function.hasSection() ||
      function.hasFnAttribute(llvm::Attribute::Naked) ||
      function.callsFunctionThatReturnsTwice())
    return false;
  for (const llvm::BasicBlock& block : function) {
    if (block.hasAddressTaken()) return false;
    for (const llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (call->isInlineAsm()) return false;
  }
  return true;
}

// The smallest functions come first: they gain most for the time that they take.
std::vector<Candidate> find_candidates(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  std::uint64_t left = 0;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) left += cost(function);
    if (can_choose(function)) functions.push_back(&function);
  }
  llvm::stable_sort(functions, [](const llvm::Function* one, const llvm::Function* other) {
    return cost(*one) < cost(*other);
  });
  left = left * Switches::get().effort() / 100;
  std::vector<Candidate> candidates;
  for (llvm::Function* function : functions) {
    Candidate candidate{.function = function};
    for (const Setting& setting : all_settings())
      if (can_apply(setting, *function)) candidate.settings.push_back(&setting);
    const std::uint64_t needed = cost(*function) * (1 + candidate.settings.size());
    if (needed > left) break;
    left -= needed;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// One line: the function, what was chosen for it, and the bytes of each of its code generations.
std::string describe(const Candidate& candidate, const Setting* chosen) {
  std::string line;
  llvm::raw_string_ostream text(line);
  text << candidate.function->getName() << '\t' << (chosen ? chosen->name : "plain") << "\tplain "
       << candidate.plain;
  for (const auto& [setting, bytes] : llvm::zip_equal(candidate.settings, candidate.bytes))
    text << '\t' << setting->name << ' ' << bytes;
  return line;
}

bool Choosing::runOnModule(llvm::Module& module) {
  std::vector<Candidate> candidates = find_candidates(module);
  if (candidates.empty()) return false;
  gate_ = std::make_unique<Gate>(module.getContext());
  if (!measure(module, machine_, *gate_, candidates)) {
    gate_.reset();
    return false;
  }
  for (const Candidate& candidate : candidates) {
    const Setting* smallest = candidate.find_smallest();
    if (smallest) apply(*smallest, *candidate.function);
    Switches::get().note(describe(candidate, smallest));
  }
  gate_->watch(module);
  return true;
}

}  // namespace

llvm::ModulePass* create_choosing_pass(llvm::TargetMachine& machine) {
  return new Choosing(machine);
}

}  // namespace compiler_gym::linker
