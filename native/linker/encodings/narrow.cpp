// and $15, %rax    ->  and $15, %eax
// test $8, %rdi    ->  test $8, %edi
// mov %rdx, %rax   ->  mov %edx, %eax, where %edx was written last
//
// A byte less each: the upper half is zero in both, and so are the flags that tell of it.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

// Instructions that always write 32 bits and so clear the upper half. A few others leave the old
// value for some inputs.
constexpr Opcode writers[] = {ADD32ri,     ADD32rr,    AND32ri,     AND32rr,    DEC32r,
                              INC32r,      LEA64_32r,  MOV32ri,     MOV32rm,    MOV32rr,
                              MOVZX32rm16, MOVZX32rm8, MOVZX32rr16, MOVZX32rr8, OR32rr,
                              SHL32ri,     SHR32ri,    SUB32ri,     SUB32rr,    XOR32rr};

// Return whether the last write of the register, in this block, cleared its upper half.
bool is_upper_half_zero(const llvm::MachineInstr& before, llvm::Register reg, const Site& site) {
  for (const llvm::MachineInstr* above = before.getPrevNode(); above;
       above = above->getPrevNode()) {
    if (above->isDebugInstr() || !site.modifies(*above, reg)) continue;
    return llvm::is_contained(writers, site.x86.opcode(*above)) &&
           site.x86.number(above->getOperand(0).getReg()) == site.x86.number(reg);
  }
  return false;
}

}  // namespace

bool narrow(llvm::MachineInstr& instruction, Site& site) {
  const Opcode opcode = site.x86.opcode(instruction);
  if (opcode != AND64ri32 && opcode != TEST64ri32 && opcode != MOV64rr) return false;
  llvm::MachineOperand& last = instruction.getOperand(instruction.getNumExplicitOperands() - 1);
  for (const llvm::MachineOperand& operand : instruction.explicit_operands())
    if (operand.isReg() && (site.x86.number(operand.getReg()) >= NUMBERS / 2 ||
                            site.x86.number(operand.getReg()) == SP))
      return false;
  if (opcode == MOV64rr ? !is_upper_half_zero(instruction, last.getReg(), site)
                        : !last.isImm() || last.getImm() < 0)
    return false;
  if (!site.commit()) return false;
  instruction.setDesc(site.description(opcode == AND64ri32    ? AND32ri
                                       : opcode == TEST64ri32 ? TEST32ri
                                                              : MOV32rr));
  llvm::Register written;
  for (llvm::MachineOperand& operand : instruction.explicit_operands())
    if (operand.isReg()) {
      if (operand.isDef()) written = operand.getReg();
      operand.setReg(site.x86.gpr(site.x86.number(operand.getReg()), 32));
    }
  // Readers of the whole register see that it is written.
  if (written)
    instruction.addOperand(site.function, llvm::MachineOperand::CreateReg(written, true, true));
  return true;
}

}  // namespace compiler_gym::linker
