// lea (%rdx,%rsi), %rax; add $6, %rax  ->  lea 6(%rdx,%rsi), %rax
//
// 3 bytes less and an instruction less. LLVM splits such addresses, because some processors take
// a cycle more for three parts.

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

// What an instruction adds to its register, or 0.
std::int64_t addend(const llvm::MachineInstr& instruction, const Site& site) {
  switch (site.x86.opcode(instruction)) {
    case ADD32ri:
    case ADD64ri32:
      return instruction.getOperand(2).isImm() ? instruction.getOperand(2).getImm() : 0;
    case SUB32ri:
    case SUB64ri32:
      return instruction.getOperand(2).isImm() ? -instruction.getOperand(2).getImm() : 0;
    case INC32r:
    case INC64r: return 1;
    case DEC32r:
    case DEC64r: return -1;
    default: return 0;
  }
}

}  // namespace

bool fold_address(llvm::MachineInstr& lea, Site& site) {
  const Opcode opcode = site.x86.opcode(lea);
  if ((opcode != LEA64r && opcode != LEA64_32r && opcode != LEA32r) || !lea.getOperand(4).isImm())
    return false;
  llvm::MachineInstr* add = site.next(lea);
  if (!add) return false;
  const std::int64_t offset = lea.getOperand(4).getImm() + addend(*add, site);
  if (offset == lea.getOperand(4).getImm() || !llvm::isInt<32>(offset) ||
      add->getOperand(0).getReg() != lea.getOperand(0).getReg() || !site.ignores_flags(*add) ||
      !site.commit())
    return false;
  lea.getOperand(4).setImm(offset);
  add->eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
