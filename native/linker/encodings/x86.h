// Names of opcodes and registers of x86-64, which LLVM numbers in headers that it does not install.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/CodeGen/MachineInstr.h>
#include <array>
#include <cstdint>
#include <vector>

namespace llvm {
class MachineFunction;
class TargetInstrInfo;
class TargetRegisterInfo;
}  // namespace llvm

namespace compiler_gym::linker {

enum Opcode : std::uint16_t {
  OTHER,
#define OPCODE(name) name,
#include "encodings/opcodes.def"
#undef OPCODE
  OPCODES
};

// Numbers of general registers as instructions encode them: from 8 on, they need a REX prefix.
enum Number : unsigned { A, C, D, B, SP, BP, SI, DI, NUMBERS = 16 };

// Exported because rules in separate shared objects use it, too.
class __attribute__((visibility("default"))) X86 {
 public:
  // Look up the names once for each process: they are the same for every function.
  static const X86& get(const llvm::TargetInstrInfo&, const llvm::TargetRegisterInfo&);

  unsigned number(Opcode opcode) const { return numbers_[opcode]; }
  Opcode opcode(const llvm::MachineInstr& instruction) const {
    return opcodes_[instruction.getOpcode()];
  }
  // Return whether the encoding has a REX prefix because it works on 64 bits.
  bool is_wide(const llvm::MachineInstr& instruction) const {
    return wide_[instruction.getOpcode()];
  }
  // Return the general register of a width of 8, 16, 32 or 64 bits.
  llvm::Register gpr(unsigned number, unsigned bits) const;
  // Return the number of a general register, or NUMBERS for any other and for AH, BH, CH and DH.
  unsigned number(llvm::Register) const;
  unsigned bits(llvm::Register) const;
  // AH, CH, DH or BH.
  llvm::Register second_byte(unsigned number) const { return second_bytes_[number]; }
  llvm::Register flags() const { return flags_; }
  llvm::Register rip() const { return rip_; }

 private:
  X86(const llvm::TargetInstrInfo&, const llvm::TargetRegisterInfo&);

  std::array<unsigned, OPCODES> numbers_{};
  std::vector<Opcode> opcodes_;
  std::vector<bool> wide_;
  std::array<std::array<llvm::Register, NUMBERS>, 4> registers_;
  std::array<llvm::Register, 4> second_bytes_;
  std::vector<std::uint8_t> places_;  // of a register in the table above, or 255
  llvm::Register flags_;
  llvm::Register rip_;
};

// Return whether something between prologue and epilogue changes the frame pointer: inline assembly
// or a call that clobbers it, between a push and a pop. The frame is then unknown.
bool loses_frame(const llvm::MachineFunction&, const X86&);

// Return the offset of a memory operand that starts with this register, or none.
llvm::MachineOperand* find_offset(llvm::MachineInstr&, unsigned base);
const llvm::MachineOperand* find_offset(const llvm::MachineInstr&, unsigned base);

}  // namespace compiler_gym::linker
