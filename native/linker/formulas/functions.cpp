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

class Frames : public llvm::ModulePass {
 public:
  static char ID;
  Frames() : ModulePass(ID) {}
  llvm::StringRef getPassName() const override { return "Frame pointers by a rule"; }
  bool runOnModule(llvm::Module&) override;
};

char Frames::ID = 0;

bool Frames::runOnModule(llvm::Module& module) {
  bool changed = false;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const bool wanted = (*Decisions::get().frame)(compute_inputs(function)) > 0;
    if (wanted == has_frame(function) || !Switches::get().spend()) continue;
    Switches::get().count(wanted ? "frame" : "no-frame", function.getName());
    function.addFnAttr(frames, wanted ? "non-leaf" : "none");
    changed = true;
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

llvm::ModulePass* create_frames_pass() { return new Frames(); }

}  // namespace compiler_gym::linker
