// The place of a rewrite: the facts that a rule may use about the code around an instruction, and
// the ways to change it that keep liveness and debug information right.
#pragma once

#include <llvm/ADT/BitVector.h>
#include <llvm/CodeGen/LivePhysRegs.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/MachineLoopInfo.h>

#include "encodings/x86.h"

namespace compiler_gym::linker {

// Exported because rules in separate shared objects use it, too.
class __attribute__((visibility("default"))) Site {
 public:
  // `kept` is the mask of registers that callers expect to be preserved, or empty for those of the
  // calling convention. IPRA gives every function such a mask.
  Site(llvm::MachineFunction&, const llvm::MachineLoopInfo&, llvm::ArrayRef<std::uint32_t> kept);

  const X86& x86;
  llvm::MachineFunction& function;

  // Walk upwards: start at the end of a block, and step over an instruction.
  void start(const llvm::MachineBasicBlock&);
  void step_over(const llvm::MachineInstr& instruction) { live_.stepBackward(instruction); }
  // The rule that is running, and permission to rewrite: the last check before a change.
  llvm::StringRef rule;
  bool commit();

  // Liveness after the instruction.
  bool are_flags_dead() const { return !live_.contains(x86.flags()); }
  // Return whether no part of the whole register is read, so that it may be changed.
  bool is_dead(llvm::Register) const;
  // Return a dead register of this width that needs no REX prefix and that `instruction` does not
  // use, or none.
  llvm::Register find_scratch(const llvm::MachineInstr& instruction, unsigned bits) const;

  // The next instruction of the block that is not a debug instruction, or none.
  llvm::MachineInstr* next(llvm::MachineInstr&) const;
  bool touches(const llvm::MachineInstr& instruction, llvm::Register reg) const {
    return instruction.readsRegister(reg, &registers_) || modifies(instruction, reg);
  }
  bool modifies(const llvm::MachineInstr& instruction, llvm::Register reg) const {
    return instruction.modifiesRegister(reg, &registers_);
  }
  bool overlap(llvm::Register a, llvm::Register b) const { return registers_.regsOverlap(a, b); }
  bool reads_flags(const llvm::MachineInstr& instruction) const {
    return instruction.readsRegister(x86.flags(), &registers_);
  }
  bool sets_flags(const llvm::MachineInstr& instruction) const {
    return modifies(instruction, x86.flags());
  }
  // Return whether the flags that an instruction sets are not read.
  bool ignores_flags(const llvm::MachineInstr& instruction) const {
    return instruction.registerDefIsDead(x86.flags(), &registers_);
  }

  // Return whether the stack pointer may move without an entry in the unwind table: the frame
  // pointer describes the frame here, or there is no such table.
  bool has_frame_at(const llvm::MachineInstr&) const;
  // Return whether values may lie below the stack pointer.
  bool may_use_red_zone() const;
  // Return whether the stack below the stack pointer may be overwritten, too.
  bool may_push(const llvm::MachineInstr&) const;
  bool is_in_loop(const llvm::MachineBasicBlock& block) const { return loops_.getLoopFor(&block); }

  const llvm::MCInstrDesc& description(Opcode opcode) const;
  // Insert an instruction that clears a register of 32 bits, and flags, which must be dead.
  void clear(llvm::MachineInstr& before, llvm::Register) const;
  // Insert an instruction before another, with its source location and its flags.
  llvm::MachineInstrBuilder insert(llvm::MachineInstr& before, Opcode) const;

 private:
  bool may_change(llvm::Register) const;
  void find_frames();

  const llvm::TargetInstrInfo& instructions_;
  const llvm::TargetRegisterInfo& registers_;
  const llvm::MachineRegisterInfo& function_registers_;
  llvm::ArrayRef<std::uint32_t> kept_;
  const llvm::MachineLoopInfo& loops_;
  llvm::LivePhysRegs live_;
  llvm::BitVector framed_;  // blocks that are entered with a frame pointer, by number
  const bool loses_frame_;
};

}  // namespace compiler_gym::linker
