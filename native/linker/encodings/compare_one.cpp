// cmp $-1, %eax; jne  ->  inc %eax; jne
// cmp $1, %ecx; jg    ->  dec %ecx; jg
//
// One byte less, if the register is not read afterwards. Only the carry flag differs.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

Opcode with_step(Opcode compare, bool is_up) {
  switch (compare) {
    case CMP8ri: return is_up ? INC8r : DEC8r;
    case CMP32ri: return is_up ? INC32r : DEC32r;
    case CMP64ri32: return is_up ? INC64r : DEC64r;
    default: return OTHER;
  }
}

constexpr Opcode conditional[] = {JCC_1, SETCCr, SETCCm, CMOV32rr, CMOV64rr, CMOV32rm, CMOV64rm};

// Below, not below, at most, above: the condition codes of the instruction set.
bool reads_carry(std::int64_t condition) {
  return condition == 2 || condition == 3 || condition == 6 || condition == 7;
}

// Return whether no reader of the flags reads the carry.
bool ignores_carry(llvm::MachineInstr& compare, const Site& site) {
  for (llvm::MachineInstr* below = site.next(compare); below; below = site.next(*below)) {
    if (site.reads_flags(*below) &&
        (!llvm::is_contained(conditional, site.x86.opcode(*below)) ||
         reads_carry(below->getOperand(below->getNumExplicitOperands() - 1).getImm())))
      return false;
    if (site.sets_flags(*below)) return true;
  }
  return llvm::none_of(compare.getParent()->successors(), [&](const auto* block) {
    return block->isLiveIn(site.x86.flags().asMCReg());
  });
}

}  // namespace

bool compare_one(llvm::MachineInstr& compare, Site& site) {
  const Opcode opcode = site.x86.opcode(compare);
  if (with_step(opcode, false) == OTHER || !compare.getOperand(1).isImm()) return false;
  const llvm::Register reg = compare.getOperand(0).getReg();
  const std::int64_t value = compare.getOperand(1).getImm();
  const unsigned number = site.x86.number(reg);
  // A comparison of %al is as short already.
  if ((value != 1 && value != -1) || number == NUMBERS || (opcode == CMP8ri && number == A) ||
      !site.is_dead(reg) || !ignores_carry(compare, site) || !site.commit())
    return false;
  site.insert(compare, with_step(opcode, value == -1))
      .addReg(reg, llvm::RegState::Define)
      .addReg(reg);
  compare.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
