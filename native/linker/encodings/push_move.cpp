// mov %rdi, %rbx  ->  push %rdi; pop %rbx
//
// 3 bytes become 2 where neither register needs a prefix, for a store and a load. Not in loops.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool push_move(llvm::MachineInstr& move, Site& site) {
  if (site.x86.opcode(move) != MOV64rr) return false;
  const llvm::MachineOperand &to = move.getOperand(0), &from = move.getOperand(1);
  for (const llvm::MachineOperand* operand : {&to, &from})
    if (site.x86.number(operand->getReg()) >= NUMBERS / 2 ||
        site.x86.number(operand->getReg()) == SP || site.x86.number(operand->getReg()) == BP)
      return false;
  if (!site.may_push(move) || site.is_in_loop(*move.getParent()) || !site.commit()) return false;
  site.insert(move, PUSH64r).addReg(from.getReg(), llvm::getUndefRegState(from.isUndef()));
  site.insert(move, POP64r).addReg(to.getReg(), llvm::RegState::Define);
  move.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
