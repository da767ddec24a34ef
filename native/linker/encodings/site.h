// The place of a rewrite: what a rule may know about the code around an instruction, and the ways
// to change it that keep liveness and debug information right.
#pragma once

#include <llvm/CodeGen/LivePhysRegs.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>

#include "encodings/x86.h"

namespace compiler_gym::linker {

class Site {
 public:
  // `clobbered` is the mask of registers that callers expect to be kept, or empty for the
  // registers of the calling convention. IPRA gives every function such a mask.
  Site(llvm::MachineFunction&, llvm::ArrayRef<std::uint32_t> kept);

  const X86& x86;
  llvm::MachineFunction& function;

  // Walk upwards: start at the end of a block, and step over an instruction.
  void start(const llvm::MachineBasicBlock&);
  void step_over(const llvm::MachineInstr& instruction) { live_.stepBackward(instruction); }
  // The rule that asks, and the answer whether it may rewrite: the last question before a change.
  llvm::StringRef rule;
  bool commit();

  // Liveness behind the instruction.
  bool are_flags_dead() const { return !live_.contains(x86.flags()); }
  // Return whether no part of the whole register is read, so that it may be changed.
  bool is_dead(llvm::Register) const;
  // Return a dead register of this width that needs no REX prefix and that `instruction` does not
  // use, or none.
  llvm::Register find_scratch(const llvm::MachineInstr& instruction, unsigned bits) const;

  // Insert an instruction in front of another, with its place in the source and its flags.
  llvm::MachineInstrBuilder insert(llvm::MachineInstr& before, Opcode) const;

 private:
  bool may_change(llvm::Register) const;

  const llvm::TargetInstrInfo& instructions_;
  const llvm::TargetRegisterInfo& registers_;
  const llvm::MachineRegisterInfo& function_registers_;
  llvm::ArrayRef<std::uint32_t> kept_;
  llvm::LivePhysRegs live_;
};

}  // namespace compiler_gym::linker
