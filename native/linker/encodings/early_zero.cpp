// cmp %rsi, %rdi; mov $0, %eax  ->  xor %eax, %eax; cmp %rsi, %rdi
//
// `xor` cannot clear a register while flags are live, so this clears it before they are set: 5
// bytes become 2. Not above inline assembly, which may do more than it declares.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool early_zero(llvm::MachineInstr& compare, Site& site) {
  if (!site.sets_flags(compare) || site.reads_flags(compare) || compare.isCall() ||
      compare.isInlineAsm())
    return false;
  llvm::SmallVector<llvm::MachineInstr*, 8> above{&compare};
  for (llvm::MachineInstr* move = site.next(compare); move && above.size() < 8;
       move = site.next(*move)) {
    if (site.x86.opcode(*move) == MOV32ri && move->getOperand(1).isImm() &&
        move->getOperand(1).getImm() == 0) {
      const llvm::Register zero = move->getOperand(0).getReg();
      const llvm::Register whole = site.x86.gpr(site.x86.number(zero), 64);
      const bool is_free = llvm::none_of(
          above, [&](llvm::MachineInstr* user) { return site.touches(*user, whole); });
      if (is_free) {
        if (!site.commit()) return false;
        move->eraseFromParent();
        site.clear(compare, zero);
        return true;
      }
    }
    if (site.sets_flags(*move) || move->isTerminator() || move->isCall() || move->isInlineAsm())
      break;
    above.push_back(move);
  }
  return false;
}

}  // namespace compiler_gym::linker
