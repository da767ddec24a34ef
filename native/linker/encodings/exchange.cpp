// mov %edi, %eax  ->  xchg %edi, %eax
//
// The accumulator has encodings without a register byte: 2 bytes become 1, or 3 become 2. Applies
// if the source is dead afterwards. Executed as three micro-operations.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool exchange(llvm::MachineInstr& move, Site& site) {
  const Opcode opcode = site.x86.opcode(move);
  if (opcode != MOV32rr && opcode != MOV64rr) return false;
  const llvm::Register to = move.getOperand(0).getReg(), from = move.getOperand(1).getReg();
  const unsigned to_number = site.x86.number(to), from_number = site.x86.number(from);
  if ((to_number == A) == (from_number == A) || to_number == SP || from_number == SP ||
      !site.is_dead(from) || !site.commit())
    return false;
  const llvm::Register other = to_number == A ? from : to;
  auto built = site.insert(move, opcode == MOV32rr ? XCHG32ar : XCHG64ar)
                   .addReg(other, llvm::RegState::Define)
                   .addReg(other, llvm::getUndefRegState(other == to));
  llvm::MachineInstr& exchanged = *built;
  exchanged.copyImplicitOps(site.function, move);
  // The destination's old value does not matter and may be undefined.
  for (llvm::MachineOperand& operand : exchanged.implicit_operands())
    if (operand.isUse() && operand.getReg() == to) operand.setIsUndef();
  move.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
