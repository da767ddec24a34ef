// add $24, %rsp; pop %rbp  ->  leave
//
// 5 or 8 bytes become 1. It holds where nothing but the frame pointer lies above the local area.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool leave(llvm::MachineInstr& add, Site& site) {
  const Opcode opcode = site.x86.opcode(add);
  const bool is_addition = opcode == ADD64ri32 && add.getOperand(2).isImm();
  const bool is_copy = opcode == MOV64rr && site.x86.number(add.getOperand(1).getReg()) == BP;
  if ((!is_addition && !is_copy) || !add.getFlag(llvm::MachineInstr::FrameDestroy) ||
      site.x86.number(add.getOperand(0).getReg()) != SP || !site.has_frame_at(add) ||
      site.is_frame_shifted())
    return false;
  llvm::MachineInstr* pop = site.next(add);
  if (!pop || site.x86.opcode(*pop) != POP64r || site.x86.number(pop->getOperand(0).getReg()) != BP)
    return false;
  if (!site.commit()) return false;
  site.insert(add, LEAVE64);
  pop->eraseFromParent();
  add.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
