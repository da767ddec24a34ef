#include "formulas/functions.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Pass.h>

#include "formulas/decisions.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

constexpr llvm::StringLiteral frames = "frame-pointer";
constexpr unsigned register_arguments = 6;

struct Counts {
  double calls = 0, constants = 0, on_stack = 0, variables = 0, loads = 0, stores = 0;
  double branches = 0, phis = 0, returns = 0;
};

void count(const llvm::Instruction& instruction, Counts& counts) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (llvm::isa<llvm::IntrinsicInst>(call)) return;
    ++counts.calls;
    for (const llvm::Use& argument : call->args())
      counts.constants += llvm::isa<llvm::Constant>(argument);
    if (call->arg_size() > register_arguments)
      counts.on_stack += call->arg_size() - register_arguments;
  }
  counts.variables += llvm::isa<llvm::AllocaInst>(instruction);
  counts.loads += llvm::isa<llvm::LoadInst>(instruction);
  counts.stores += llvm::isa<llvm::StoreInst>(instruction);
  counts.branches += instruction.isTerminator() && instruction.getNumSuccessors() > 1;
  counts.phis += llvm::isa<llvm::PHINode>(instruction);
  counts.returns += llvm::isa<llvm::ReturnInst>(instruction);
}

bool has_frame(const llvm::Function& function) {
  const llvm::StringRef frame = function.getFnAttribute(frames).getValueAsString();
  return !frame.empty() && frame != "none";
}

class Functions : public llvm::ModulePass {
 public:
  static char ID;
  Functions() : ModulePass(ID) {}
  llvm::StringRef getPassName() const override { return "Frame pointers and outlining by a rule"; }
  bool runOnModule(llvm::Module&) override;
};

char Functions::ID = 0;

bool decide_frame(const Formula& rule, llvm::Function& function) {
  const bool wanted = rule(compute_inputs(function)) > 0;
  if (wanted == has_frame(function) || !Switches::get().spend()) return false;
  Switches::get().count(wanted ? "frame" : "no-frame", function.getName());
  function.addFnAttr(frames, wanted ? "non-leaf" : "none");
  return true;
}

bool decide_outlining(const Formula& rule, llvm::Function& function) {
  auto inputs = compute_inputs(function);
  inputs.front() = 1;  // LLVM outlines from every function
  if (rule(inputs) > 0 || !Switches::get().spend()) return false;
  Switches::get().count("no-outline", function.getName());
  function.addFnAttr("nooutline");
  return true;
}

bool Functions::runOnModule(llvm::Module& module) {
  const Decisions& rules = Decisions::get();
  bool changed = false;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (rules.frame) changed |= decide_frame(*rules.frame, function);
    if (rules.outline) changed |= decide_outlining(*rules.outline, function);
  }
  return changed;
}

}  // namespace

llvm::SmallVector<double, 20> compute_inputs(const llvm::Function& function) {
  Counts counts;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    count(instruction, counts);
  return {double(has_frame(function)),
          double(function.getInstructionCount()),
          double(function.size()),
          counts.calls,
          counts.constants,
          counts.on_stack,
          double(function.arg_size()),
          counts.variables,
          counts.loads,
          counts.stores,
          counts.branches,
          counts.phis,
          counts.returns};
}

llvm::ModulePass* create_functions_pass() { return new Functions(); }

}  // namespace compiler_gym::linker
