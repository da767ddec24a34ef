// Two registers that a function saves swap places: the one used in more encodings with a prefix
// gets the name that needs no prefix.
//
// %rbx needs no REX prefix and %r12 to %r15 do; as bases, %r12 needs another byte, and so does %r13
// without an offset. Both registers are saved and restored as before, so the frame and its entry in
// the unwind table do not change. No cost at run time.

#include "encodings/swap_registers.h"

#include <llvm/ADT/Sequence.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

constexpr unsigned candidates[] = {B, BP, 12, 13, 14, 15};

unsigned swapped(unsigned number, unsigned first, unsigned second) {
  return number == first ? second : number == second ? first : number;
}

// Return the bytes of an instruction that depend on the registers it names.
int count_bytes(const llvm::MachineInstr& instruction, const X86& x86, unsigned first,
                unsigned second) {
  bool has_prefix = x86.is_wide(instruction);
  int bytes = 0;
  for (unsigned i = 0; i < instruction.getNumExplicitOperands(); ++i) {
    const llvm::MachineOperand& operand = instruction.getOperand(i);
    if (!operand.isReg() || x86.number(operand.getReg()) == NUMBERS) continue;
    const unsigned number = swapped(x86.number(operand.getReg()), first, second);
    has_prefix |= number >= NUMBERS / 2 || (x86.bits(operand.getReg()) == 8 && number > B);
    const llvm::MachineOperand* offset = find_offset(instruction, i);
    if (!offset) continue;
    const bool has_index = instruction.getOperand(i + 2).getReg().isValid();
    bytes += number % 8 == SP && !has_index;
    bytes += number % 8 == BP && offset->isImm() && offset->getImm() == 0;
  }
  return bytes + has_prefix;
}

class Swapping {
 public:
  explicit Swapping(Site& site) : site_(site), x86_(site.x86), function_(site.function) {}

  bool run();

 private:
  void find_allowed();
  bool is_frame(const llvm::MachineInstr& instruction) const {
    return instruction.getFlag(llvm::MachineInstr::FrameSetup) ||
           instruction.getFlag(llvm::MachineInstr::FrameDestroy);
  }
  void forbid(llvm::Register reg) {
    for (unsigned number : candidates)
      if (site_.overlap(reg, x86_.gpr(number, 64))) allowed_.reset(number);
  }
  void look_at(const llvm::MachineInstr&);
  int count_gain(unsigned first, unsigned second) const;
  void apply(unsigned first, unsigned second);

  Site& site_;
  const X86& x86_;
  llvm::MachineFunction& function_;
  llvm::BitVector allowed_{NUMBERS};
};

// Find the registers that are saved and that no instruction needs by name.
void Swapping::find_allowed() {
  const llvm::MachineFrameInfo& frame = function_.getFrameInfo();
  if (!frame.isCalleeSavedInfoValid() || function_.callsEHReturn() || frame.hasStackMap() ||
      frame.hasPatchPoint() || function_.isOutlined())
    return;
  for (const llvm::CalleeSavedInfo& saved : frame.getCalleeSavedInfo()) {
    const unsigned number = x86_.number(saved.getReg());
    if (saved.isRestored() && !saved.isSpilledToReg() && llvm::is_contained(candidates, number) &&
        !function_.getRegInfo().isReserved(saved.getReg()))
      allowed_.set(number);
  }
  // Some calling conventions pass arguments in them.
  for (const auto& [argument, value] : function_.getRegInfo().liveins()) forbid(argument);
  for (const llvm::MachineBasicBlock& block : function_)
    for (const llvm::MachineInstr& instruction : block) look_at(instruction);
}

void Swapping::look_at(const llvm::MachineInstr& instruction) {
  const Opcode opcode = x86_.opcode(instruction);
  if (is_frame(instruction) && (opcode == PUSH64r || opcode == POP64r)) return;
  const bool is_fixed = is_frame(instruction) || instruction.isInlineAsm() ||
                        instruction.isCall() || instruction.isReturn();
  // AH, BH, CH and DH cannot be used in an instruction with a REX prefix.
  const bool has_second_byte =
      llvm::any_of(instruction.explicit_operands(), [&](const auto& named) {
        return named.isReg() && named.getReg() &&
               llvm::any_of(llvm::seq(unsigned(A), unsigned(SP)), [&](unsigned number) {
                 return named.getReg() == x86_.second_byte(number);
               });
      });
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    const llvm::MachineOperand& operand = instruction.getOperand(i);
    if (operand.isRegMask()) {
      // A register that one call preserves and another clobbers cannot be renamed.
      const bool keeps = !operand.clobbersPhysReg(x86_.gpr(14, 64).asMCReg());
      for (unsigned number : candidates)
        if (operand.clobbersPhysReg(x86_.gpr(number, 64).asMCReg()) == keeps)
          allowed_.reset(number);
    }
    if (!operand.isReg() || !operand.getReg()) continue;
    if (has_second_byte || x86_.number(operand.getReg()) == NUMBERS)
      forbid(operand.getReg());  // BH has no counterpart
    else if (is_fixed && (!instruction.isCall() || i >= instruction.getNumExplicitOperands()))
      forbid(operand.getReg());
    else if (operand.isImplicit() && !instruction.isMetaInstruction() &&
             llvm::none_of(instruction.explicit_operands(), [&](const auto& named) {
               return named.isReg() && named.getReg() &&
                      site_.overlap(named.getReg(), operand.getReg());
             }))
      forbid(operand.getReg());
  }
  for (llvm::MCPhysReg reg : instruction.getDesc().implicit_uses()) forbid(reg);
  for (llvm::MCPhysReg reg : instruction.getDesc().implicit_defs()) forbid(reg);
}

int Swapping::count_gain(unsigned first, unsigned second) const {
  int gain = 0;
  for (const llvm::MachineBasicBlock& block : function_)
    for (const llvm::MachineInstr& instruction : block)
      if (!instruction.isMetaInstruction() && !is_frame(instruction))
        gain += count_bytes(instruction, x86_, first, first) -
                count_bytes(instruction, x86_, first, second);
  return gain;
}

void Swapping::apply(unsigned first, unsigned second) {
  const auto rename = [&](llvm::Register reg) {
    return x86_.gpr(swapped(x86_.number(reg), first, second), x86_.bits(reg));
  };
  const auto is_one = [&](llvm::Register reg) {
    const unsigned number = x86_.number(reg);
    return number == first || number == second;
  };
  for (llvm::MachineBasicBlock& block : function_) {
    llvm::SmallVector<llvm::MachineBasicBlock::RegisterMaskPair> moved;
    for (const auto& live : block.liveins())
      if (is_one(llvm::Register(live.PhysReg))) moved.push_back(live);
    for (const auto& live : moved) block.removeLiveIn(live.PhysReg, llvm::LaneBitmask::getAll());
    for (const auto& live : moved)
      block.addLiveIn(rename(llvm::Register(live.PhysReg)).asMCReg(), live.LaneMask);
    block.sortUniqueLiveIns();
    for (llvm::MachineInstr& instruction : block)
      if (!is_frame(instruction))
        for (llvm::MachineOperand& operand : instruction.operands())
          if (operand.isReg() && is_one(operand.getReg())) operand.setReg(rename(operand.getReg()));
  }
}

bool Swapping::run() {
  find_allowed();
  bool changed = false;
  while (true) {
    int best = 0;
    unsigned first = 0, second = 0;
    for (unsigned a : candidates)
      for (unsigned b : candidates) {
        if (a >= b || !allowed_[a] || !allowed_[b]) continue;
        if (const int gain = count_gain(a, b); gain > best) best = gain, first = a, second = b;
      }
    if (best == 0 || !site_.commit()) return changed;
    apply(first, second);
    changed = true;
  }
}

}  // namespace

bool swap_registers(Site& site) { return Swapping(site).run(); }

}  // namespace compiler_gym::linker
