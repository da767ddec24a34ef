// movl $0, (%rdi)  ->  xor %eax, %eax; mov %eax, (%rdi)
//
// A constant in a store instruction takes four bytes. The first store saves 2 bytes, and stores
// before it that can use the same register save 4, or 1 where LLVM uses `andl $0`.

#include <llvm/CodeGen/MachineFunction.h>

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

// The store of a register for a store of zero, or OTHER.
Opcode with_register(Opcode opcode) {
  switch (opcode) {
    case MOV8mi: return MOV8mr;
    case MOV16mi: return MOV16mr;
    case AND32mi:
    case MOV32mi: return MOV32mr;
    case AND64mi32:
    case MOV64mi32: return MOV64mr;
    default: return OTHER;
  }
}

unsigned width(Opcode store) {
  return store == MOV64mr ? 64 : store == MOV32mr ? 32 : store == MOV16mr ? 16 : 8;
}

bool is_clear(const llvm::MachineInstr& instruction, const Site& site) {
  return site.x86.opcode(instruction) == XOR32rr && site.ignores_flags(instruction) &&
         instruction.getOperand(1).getReg() == instruction.getOperand(2).getReg();
}

// Find below an instruction that clears a register which could be cleared here already. A call in
// between may throw, and the handler may read the register.
llvm::MachineInstr* find_clear(llvm::MachineInstr& store, const Site& site) {
  llvm::SmallVector<llvm::MachineInstr*, 16> between{&store};
  for (llvm::MachineInstr* below = site.next(store);
       below && between.size() < 16 && !below->isCall() && !below->isInlineAsm();
       below = site.next(*below)) {
    if (is_clear(*below, site)) {
      const llvm::Register reg = site.x86.gpr(site.x86.number(below->getOperand(0).getReg()), 64);
      const bool is_free = llvm::none_of(
          between, [&](llvm::MachineInstr* user) { return site.touches(*user, reg); });
      if (is_free && site.x86.number(reg) < NUMBERS / 2) return below;
    }
    between.push_back(below);
  }
  return nullptr;
}

}  // namespace

bool store_zero(llvm::MachineInstr& store, Site& site) {
  const Opcode opcode = site.x86.opcode(store), other = with_register(opcode);
  if (other == OTHER || !store.getOperand(5).isImm() || store.getOperand(5).getImm() != 0 ||
      !site.are_flags_dead() || store.hasOrderedMemoryRef())
    return false;
  const bool is_and = opcode == AND32mi || opcode == AND64mi32;
  llvm::MachineInstr* clear = find_clear(store, site);
  // A byte in a register other than the first four needs a prefix, which cancels the saving.
  if (clear && other == MOV8mr && site.x86.number(clear->getOperand(0).getReg()) > B) return false;
  llvm::Register scratch = clear ? clear->getOperand(0).getReg() : llvm::Register();
  if (!clear && !is_and && width(other) >= 32) scratch = site.find_scratch(store, 32);
  if (!scratch || !site.commit()) return false;
  if (clear) clear->eraseFromParent();
  site.clear(store, scratch);
  auto moved = site.insert(store, other);
  for (unsigned i = 0; i < 5; ++i) moved.add(store.getOperand(i));
  moved.addReg(site.x86.gpr(site.x86.number(scratch), width(other)));
  for (const llvm::MachineMemOperand* memory : store.memoperands())
    if (memory->isStore())
      moved.addMemOperand(site.function.getMachineMemOperand(
          memory, memory->getFlags() & ~llvm::MachineMemOperand::MOLoad));
  store.eraseFromParent();
  return true;
}

}  // namespace compiler_gym::linker
