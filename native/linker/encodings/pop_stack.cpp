// add $8, %rsp  ->  pop %rcx
//
// 4 bytes become 1, and a load is executed more. The slot is on the stack, so it can be read.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool pop_stack(llvm::MachineInstr& add, Site& site) {
  if (site.x86.opcode(add) != ADD64ri32 || site.x86.number(add.getOperand(0).getReg()) != SP ||
      !add.getOperand(2).isImm() || add.getOperand(2).getImm() != 8 || !site.are_flags_dead())
    return false;
  const llvm::Register scratch = site.find_scratch(add, 64);
  if (!scratch || !site.commit()) return false;
  site.insert(add, POP64r).addReg(scratch, llvm::RegState::Define);
  add.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
