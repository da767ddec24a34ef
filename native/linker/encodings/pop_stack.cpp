// add $8, %rsp  ->  pop %rcx
//
// 4 bytes become 1 to 3, and one to three loads replace an addition. The slots belong to the stack,
// so reading them is safe.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool pop_stack(llvm::MachineInstr& add, Site& site) {
  if (site.x86.opcode(add) != ADD64ri32 || site.x86.number(add.getOperand(0).getReg()) != SP ||
      !add.getOperand(2).isImm() || !site.are_flags_dead())
    return false;
  const std::int64_t bytes = add.getOperand(2).getImm();
  // Between two pops, only a frame pointer still describes the frame.
  if (bytes != 8 && !((bytes == 16 || bytes == 24) && site.has_frame_at(add))) return false;
  const llvm::Register scratch = site.find_scratch(add, 64);
  if (!scratch || !site.commit()) return false;
  for (std::int64_t i = 0; i < bytes; i += 8)
    site.insert(add, POP64r).addReg(scratch, llvm::RegState::Define);
  add.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
