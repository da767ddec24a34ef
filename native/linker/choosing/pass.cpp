#include "choosing/pass.h"

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <algorithm>

#include "choosing/gate.h"
#include "choosing/settings.h"
#include "choosing/trial.h"

namespace compiler_gym::linker {
namespace {

// How much code may be generated for measuring, in units of the whole module.
double effort() { const char* e = getenv("CHOOSE_EFFORT"); return e ? atof(e) : 1.0; }
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
  double left = 0;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) left += effort() * cost(function);
    if (can_choose(function)) functions.push_back(&function);
  }
  std::ranges::stable_sort(functions, {}, [](const llvm::Function* one) { return cost(*one); });
  std::vector<Candidate> candidates;
  for (llvm::Function* function : functions) {
    Candidate candidate{function, {}};
    for (const Setting& setting : all_settings())
      if (can_apply(setting, *function)) candidate.settings.push_back(&setting);
    left -= cost(*function) * (1.0 + candidate.settings.size());
    if (left < 0) break;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

bool Choosing::runOnModule(llvm::Module& module) {
  std::vector<Candidate> candidates = find_candidates(module);
  gate_ = std::make_unique<Gate>(module.getContext());
  if (candidates.empty() || !measure(module, machine_, *gate_, candidates)) {gate_.reset(); return false;}
  for (const Candidate& candidate : candidates) {
    const auto smallest = std::min_element(candidate.bytes.begin(), candidate.bytes.end());
    if (smallest != candidate.bytes.end() && *smallest && *smallest < candidate.plain)
      apply(*candidate.settings[smallest - candidate.bytes.begin()], *candidate.function);
    if (getenv("CHOOSE_LOG")) { std::error_code ec; static llvm::raw_fd_ostream o(getenv("CHOOSE_LOG"), ec); o << candidate.function->getName() << "\tplain " << candidate.plain; for (auto [s,b] : llvm::zip(candidate.settings,candidate.bytes)) o << "\t" << s->name << " " << b; o << "\n"; o.flush(); }
  }
  gate_->watch(module);
  return true;
}

}  // namespace

llvm::ModulePass* create_choosing_pass(llvm::TargetMachine& machine) {
  return new Choosing(machine);
}

}  // namespace compiler_gym::linker
