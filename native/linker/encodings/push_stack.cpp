// sub $16, %rsp   ->  push %rax; push %rax
// sub $128, %rsp  ->  add $-128, %rsp
//
// 4 bytes become 2 or 3, and 7 become 4. LLVM does the first itself for 8 bytes.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool push_stack(llvm::MachineInstr& sub, Site& site) {
  const Opcode opcode = site.x86.opcode(sub);
  if ((opcode != SUB64ri32 && opcode != ADD64ri32) || !sub.getOperand(2).isImm() ||
      site.x86.number(sub.getOperand(0).getReg()) != SP || !site.are_flags_dead())
    return false;
  const std::int64_t bytes = sub.getOperand(2).getImm();
  if (bytes == 128) {
    if (!site.commit()) return false;
    site.insert(sub, opcode == SUB64ri32 ? ADD64ri32 : SUB64ri32)
        .add(sub.getOperand(0))
        .add(sub.getOperand(1))
        .addImm(-128);
  } else {
    // In a prologue, no value lies below the stack pointer yet.
    if (opcode != SUB64ri32 || (bytes != 16 && bytes != 24) || !site.has_frame_at(sub) ||
        (site.may_use_red_zone() && !sub.getFlag(llvm::MachineInstr::FrameSetup)) || !site.commit())
      return false;
    for (std::int64_t i = 0; i < bytes; i += 8)
      site.insert(sub, PUSH64r).addReg(site.x86.gpr(A, 64), llvm::RegState::Undef);
  }
  sub.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
