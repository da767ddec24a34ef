#include "encodings/x86.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/TargetFrameLowering.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MathExtras.h>

namespace compiler_gym::linker {
namespace {

constexpr const char* names[] = {
#define OPCODE(name) #name,
#include "encodings/opcodes.def"
#undef OPCODE
};

constexpr const char* low_names[4][8] = {{"AL", "CL", "DL", "BL", "SPL", "BPL", "SIL", "DIL"},
                                         {"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI"},
                                         {"EAX", "ECX", "EDX", "EBX", "ESP", "EBP", "ESI", "EDI"},
                                         {"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI"}};
constexpr const char* suffixes[4] = {"B", "W", "D", ""};

template <typename Table>
unsigned look_up(const Table& table, const std::string& name) {
  auto found = table.find(name);
  if (found == table.end())
    llvm::reportFatalInternalError("compiler_gym_size: this LLVM has no " + llvm::Twine(name));
  return found->second;
}

// LLVM does not install the description of an encoding, but the names show this property.
bool has_wide_name(llvm::StringRef name) {
  for (llvm::StringRef narrow :
       {"PUSH", "POP", "CALL", "JMP", "TAILJMP", "RET", "LEAVE", "LEA64_32"})
    if (name.starts_with(narrow)) return false;
  return name.contains("64");
}

}  // namespace

const X86& X86::get(const llvm::TargetInstrInfo& instructions,
                    const llvm::TargetRegisterInfo& registers) {
  static const X86 x86(instructions, registers);
  return x86;
}

X86::X86(const llvm::TargetInstrInfo& instructions, const llvm::TargetRegisterInfo& registers) {
  llvm::StringMap<unsigned> by_name(instructions.getNumOpcodes());
  for (unsigned i = 0; i < instructions.getNumOpcodes(); ++i) by_name[instructions.getName(i)] = i;
  wide_.resize(instructions.getNumOpcodes());
  for (unsigned i = 0; i < instructions.getNumOpcodes(); ++i)
    wide_[i] = has_wide_name(instructions.getName(i));
  opcodes_.resize(instructions.getNumOpcodes(), OTHER);
  for (unsigned i = OTHER + 1; i < OPCODES; ++i) {
    numbers_[i] = look_up(by_name, names[i - 1]);
    opcodes_[numbers_[i]] = Opcode(i);
  }
  by_name.clear();
  for (unsigned i = 1; i < registers.getNumRegs(); ++i) by_name[registers.getName(i)] = i;
  places_.resize(registers.getNumRegs(), 255);
  for (unsigned width = 0; width < 4; ++width)
    for (unsigned i = 0; i < NUMBERS; ++i) {
      registers_[width][i] =
          i < 8 ? look_up(by_name, low_names[width][i])
                : look_up(by_name, (llvm::Twine('R') + llvm::Twine(i) + suffixes[width]).str());
      places_[registers_[width][i].id()] = width * NUMBERS + i;
    }
  for (unsigned i = A; i <= B; ++i)
    second_bytes_[i] = look_up(by_name, std::string(1, "ACDB"[i]) + "H");
  flags_ = look_up(by_name, "EFLAGS");
  rip_ = look_up(by_name, "RIP");
}

llvm::Register X86::gpr(unsigned number, unsigned bits) const {
  return registers_[llvm::Log2_32(bits) - 3][number];
}

unsigned X86::number(llvm::Register of) const {
  return of.isPhysical() && places_[of.id()] != 255 ? places_[of.id()] % NUMBERS : NUMBERS;
}

bool loses_frame(const llvm::MachineFunction& function, const X86& x86) {
  const llvm::TargetSubtargetInfo& subtarget = function.getSubtarget();
  if (!subtarget.getFrameLowering()->hasFP(function)) return false;
  return llvm::any_of(function, [&](const llvm::MachineBasicBlock& block) {
    return llvm::any_of(block.instrs(), [&](const llvm::MachineInstr& instruction) {
      return !instruction.getFlag(llvm::MachineInstr::FrameSetup) &&
             !instruction.getFlag(llvm::MachineInstr::FrameDestroy) &&
             instruction.modifiesRegister(x86.gpr(BP, 64), subtarget.getRegisterInfo());
    });
  });
}

llvm::MachineOperand* find_offset(llvm::MachineInstr& instruction, unsigned base) {
  if (base + 4 >= instruction.getNumExplicitOperands() || instruction.isInlineAsm()) return nullptr;
  const auto is_scale = [](const llvm::MachineOperand& operand) {
    return operand.isImm() && operand.getImm() >= 1 && operand.getImm() <= 8;
  };
  llvm::MachineOperand& offset = instruction.getOperand(base + 3);
  return is_scale(instruction.getOperand(base + 1)) && instruction.getOperand(base + 2).isReg() &&
                 !offset.isReg() && instruction.getOperand(base + 4).isReg()
             ? &offset
             : nullptr;
}

const llvm::MachineOperand* find_offset(const llvm::MachineInstr& instruction, unsigned base) {
  return find_offset(const_cast<llvm::MachineInstr&>(instruction), base);
}

unsigned X86::bits(llvm::Register of) const {
  return of.isPhysical() && places_[of.id()] != 255 ? 8u << places_[of.id()] / NUMBERS : 0;
}

}  // namespace compiler_gym::linker
