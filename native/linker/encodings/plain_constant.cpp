// push $5; pop %rax  ->  xor %eax, %eax; mov $5, %al
// push $-1; pop %rax ->  or $-1, %rax
//
// LLVM makes small constants by push and pop, which saves 2 bytes of code. Without a frame pointer
// each pair takes 6 bytes of unwind table, and is replaced by 3 to 5 bytes without any.

#include <llvm/CodeGen/MachineFunction.h>

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

void write_constant(llvm::MachineInstr& push, llvm::Register whole, std::int64_t value, Site& site,
                    bool may_change_flags) {
  const unsigned number = site.x86.number(whole);
  const llvm::Register half = site.x86.gpr(number, 32);
  if (value == -1 && may_change_flags) {
    site.insert(push, OR64ri32)
        .addReg(whole, llvm::RegState::Define)
        .addReg(whole, llvm::RegState::Undef)
        .addImm(-1);
  } else if (value == 1 && may_change_flags) {
    site.clear(push, half);
    site.insert(push, INC32r)
        .addReg(half, llvm::RegState::Define)
        .addReg(half)
        .addReg(whole, llvm::RegState::ImplicitDefine);
  } else if (number <= B && may_change_flags) {
    site.clear(push, half);
    site.insert(push, MOV8ri)
        .addReg(site.x86.gpr(number, 8), llvm::RegState::Define)
        .addImm(value)
        .addReg(half, llvm::RegState::Implicit)
        .addReg(whole, llvm::RegState::ImplicitDefine);
  } else {
    site.insert(push, MOV32ri)
        .addReg(half, llvm::RegState::Define)
        .addImm(value)
        .addReg(whole, llvm::RegState::ImplicitDefine);
  }
}

}  // namespace

bool plain_constant(llvm::MachineInstr& push, Site& site) {
  if (site.x86.opcode(push) != PUSH64i32 || !push.getOperand(0).isImm()) return false;
  llvm::MachineInstr* grown = push.getNextNode();
  llvm::MachineInstr* pop = grown && grown->isCFIInstruction() ? grown->getNextNode() : nullptr;
  if (!pop || site.x86.opcode(*pop) != POP64r) return false;
  llvm::MachineInstr* shrunk = pop->getNextNode();
  if (!shrunk || !shrunk->isCFIInstruction()) return false;
  const std::int64_t value = push.getOperand(0).getImm();
  const bool may_change_flags = site.are_flags_dead();
  if (value < -1 || value > 127 || (value == -1 && !may_change_flags) || !site.commit())
    return false;
  write_constant(push, pop->getOperand(0).getReg(), value, site, may_change_flags);
  for (llvm::MachineInstr* old : {&push, grown, pop, shrunk}) old->eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
