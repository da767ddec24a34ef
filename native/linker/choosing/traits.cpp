#include "choosing/traits.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace compiler_gym::linker {
namespace {

// Return whether the function continues after this call.
bool is_inner_call(const llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::CallBase>(instruction) || llvm::isa<llvm::IntrinsicInst>(instruction))
    return false;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return !call || !call->isTailCall() ||
         !llvm::isa_and_nonnull<llvm::ReturnInst>(call->getNextNode());
}

bool is_pushed(const llvm::Value* argument) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(argument);
  return constant && !constant->isZero() && constant->getValue().isSignedIntN(8);
}

// The range of a value from its definition to its last use, as positions in the order of blocks.
class Lives {
 public:
  explicit Lives(const llvm::Function&);

  unsigned count_kept() const;

 private:
  void extend(const llvm::Use&);

  llvm::DenseMap<const llvm::Value*, unsigned> places_, last_uses_;
  llvm::SmallVector<unsigned> calls_;
};

Lives::Lives(const llvm::Function& function) {
  unsigned place = 0;
  for (const llvm::Argument& argument : function.args()) places_[&argument] = place;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    places_[&instruction] = ++place;
    if (is_inner_call(instruction)) calls_.push_back(place);
  }
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    for (const llvm::Use& use : instruction.operands()) extend(use);
}

void Lives::extend(const llvm::Use& use) {
  if (llvm::isa<llvm::AllocaInst>(use) || !places_.contains(use)) return;
  const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
    user = phi->getIncomingBlock(use)->getTerminator();
  unsigned& last = last_uses_[use];
  last = std::max(last, places_.lookup(user));
}

unsigned Lives::count_kept() const {
  return llvm::count_if(last_uses_, [&](const auto& life) {
    const auto* next = llvm::upper_bound(calls_, places_.lookup(life.first));
    return next != calls_.end() && *next < life.second;
  });
}

void count(const llvm::Instruction& instruction, Traits& traits) {
  traits.stores += llvm::isa<llvm::StoreInst>(instruction);
  traits.compares += llvm::isa<llvm::CmpInst>(instruction);
  traits.casts += llvm::isa<llvm::CastInst>(instruction);
  traits.phis += llvm::isa<llvm::PHINode>(instruction);
  traits.calls += is_inner_call(instruction);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      call && !llvm::isa<llvm::IntrinsicInst>(call))
    traits.constants += llvm::count_if(call->args(), is_pushed);
  traits.crossing += llvm::count_if(instruction.operands(), [&](const llvm::Use& use) {
    const auto* value = llvm::dyn_cast<llvm::Instruction>(use);
    return value && value->getParent() != instruction.getParent();
  });
}

}  // namespace

Traits read_traits(const llvm::Function& function) {
  const llvm::StringRef frame = function.getFnAttribute("frame-pointer").getValueAsString();
  Traits traits = {.instructions = function.getInstructionCount(),
                   .blocks = static_cast<unsigned>(function.size()),
                   .kept = Lives(function).count_kept(),
                   .has_pointer = !frame.empty() && frame != "none"};
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    count(instruction, traits);
  return traits;
}

}  // namespace compiler_gym::linker
