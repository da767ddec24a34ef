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
#include "formulas/decisions.h"
#include "formulas/functions.h"
#include "inputs.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

// The cost of a function in the code generator besides its instructions, in instructions.
constexpr unsigned function_cost = 10;
// The cost of starting the linker, so that settings are tried in the smallest programs, too.
constexpr unsigned start_cost = 1000;
// Code generation time grows faster than linearly with the size of a function.
constexpr unsigned most_instructions = 2000;
// The effort from which settings that seldom save bytes are tried, too.
constexpr unsigned thorough = 200;

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

// Exclude functions that cannot be cloned and those that compute the addresses of their
// instructions.
bool can_choose(const llvm::Function& function) {
  if (function.isDeclarationForLinker() || !function.hasName() || !function.hasOptSize() ||
      function.hasOptNone() || function.hasSection() ||
      function.getInstructionCount() > most_instructions ||
      function.hasFnAttribute(llvm::Attribute::Naked) || function.callsFunctionThatReturnsTwice())
    return false;
  for (const llvm::BasicBlock& block : function) {
    if (block.hasAddressTaken()) return false;
    for (const llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (call->isInlineAsm()) return false;
  }
  return true;
}

// Plan the setting for the functions in which it is likely to save bytes, or for the others, while
// the effort allows more code generation. The smallest functions come first: they gain most for
// their time.
void plan(const Setting& setting, bool is_likely, std::vector<Candidate>& candidates,
          std::uint64_t& left) {
  if (!Switches::get().allows(setting.name)) return;
  for (Candidate& candidate : candidates) {
    if (setting.is_likely(candidate.traits) != is_likely ||
        !can_apply(setting, *candidate.function))
      continue;
    // The plain code generation is needed once for the comparison.
    const std::uint64_t needed = cost(*candidate.function) * (candidate.settings.empty() ? 2 : 1);
    if (needed > left) return;
    left -= needed;
    candidate.settings.push_back(&setting);
  }
}

std::vector<Candidate> find_candidates(llvm::Module& module) {
  std::vector<Candidate> candidates;
  std::uint64_t left = start_cost;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) left += cost(function);
    if (can_choose(function))
      candidates.push_back({.function = &function, .traits = read_traits(function)});
  }
  // A rule needs no trials and therefore no limit.
  const bool has_rule = Decisions::get().choose.has_value();
  left = has_rule ? UINT64_MAX : left * Switches::get().effort() / 100;
  llvm::stable_sort(candidates, [](const Candidate& one, const Candidate& other) {
    return one.traits.instructions < other.traits.instructions;
  });
  for (const Setting& setting : all_settings()) plan(setting, true, candidates, left);
  if (has_rule || Switches::get().effort() >= thorough)
    // Elsewhere, the frame pointer gains least for the time.
    for (const Setting& setting : llvm::reverse(all_settings()))
      plan(setting, false, candidates, left);
  std::erase_if(candidates, [](const Candidate& one) { return one.settings.empty(); });
  return candidates;
}

// One line: the function, its chosen setting, and its bytes in each code generation.
std::string describe(const Candidate& candidate, const Setting* chosen) {
  std::string line;
  llvm::raw_string_ostream text(line);
  text << candidate.function->getName() << '\t' << (chosen ? chosen->name : "plain") << "\tplain "
       << candidate.plain;
  for (const auto& [setting, bytes] : llvm::zip_equal(candidate.settings, candidate.bytes))
    text << '\t' << setting->name << ' ' << bytes;
  return line;
}

// Return the setting with the highest score under the rule if that is above 0, or null.
const Setting* find_best(const Candidate& candidate, const Formula& rule) {
  const auto inputs = compute_inputs(*candidate.function);
  const Setting* best = nullptr;
  double highest = 0;
  for (const Setting* setting : candidate.settings) {
    auto all = inputs;
#define IS_SETTING(input, description) \
  all.push_back(llvm::StringRef(#input) == "is_" + setting->name.str());
    SETTING_INPUTS(IS_SETTING)
#undef IS_SETTING
    const double score = rule(all);
    if (score > highest) {
      highest = score;
      best = setting;
    }
  }
  return best;
}

bool Choosing::runOnModule(llvm::Module& module) {
  std::vector<Candidate> candidates = find_candidates(module);
  if (candidates.empty()) return false;
  gate_ = std::make_unique<Gate>(module.getContext());
  const auto& rule = Decisions::get().choose;
  if (!rule && !measure(module, machine_, *gate_, candidates)) {
    gate_.reset();
    return false;
  }
  for (const Candidate& candidate : candidates) {
    const Setting* chosen = rule ? find_best(candidate, *rule) : candidate.find_smallest();
    if (chosen && !Switches::get().spend()) chosen = nullptr;
    if (chosen) {
      Switches::get().count(chosen->name, candidate.function->getName());
      apply(*chosen, *candidate.function);
    }
    if (!rule) Switches::get().note(describe(candidate, chosen));
  }
  gate_->watch(module);
  return true;
}

}  // namespace

llvm::ModulePass* create_choosing_pass(llvm::TargetMachine& machine) {
  return new Choosing(machine);
}

}  // namespace compiler_gym::linker
