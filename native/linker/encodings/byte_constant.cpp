// mov $200, %eax  ->  xor %eax, %eax; mov $200, %al
//
// 5 bytes become 4, at the cost of one more instruction. LLVM uses push and pop for constants up to
// 127; this rule covers those up to 255, and those with only their second byte nonzero.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {

bool byte_constant(llvm::MachineInstr& move, Site& site) {
  if (site.x86.opcode(move) != MOV32ri || !move.getOperand(1).isImm() || !site.are_flags_dead())
    return false;
  const llvm::Register whole = move.getOperand(0).getReg();
  const std::uint64_t value = move.getOperand(1).getImm() & 0xffffffff;
  const bool is_second = (value & 0xff) == 0;
  if (site.x86.number(whole) > B || value < 128 || value > (is_second ? 0xffff : 0xff) ||
      !site.commit())
    return false;
  site.clear(move, whole);
  const unsigned number = site.x86.number(whole);
  site.insert(move, MOV8ri)
      .addReg(is_second ? site.x86.second_byte(number) : site.x86.gpr(number, 8),
              llvm::RegState::Define)
      .addImm(is_second ? value >> 8 : value)
      .addReg(whole, llvm::RegState::Implicit)
      .addReg(whole, llvm::RegState::ImplicitDefine)
      .copyImplicitOps(move);
  move.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
