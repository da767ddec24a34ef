#include "encodings/site.h"

#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>

#include "switches.h"

namespace compiler_gym::linker {

Site::Site(llvm::MachineFunction& function, llvm::ArrayRef<std::uint32_t> kept)
    : x86(X86::get(*function.getSubtarget().getInstrInfo(),
                   *function.getSubtarget().getRegisterInfo())),
      function(function),
      instructions_(*function.getSubtarget().getInstrInfo()),
      registers_(*function.getSubtarget().getRegisterInfo()),
      function_registers_(function.getRegInfo()),
      kept_(kept),
      live_(registers_) {}

void Site::start(const llvm::MachineBasicBlock& block) {
  live_.clear();
  live_.addLiveOuts(block);
  // An outlined function returns into the middle of another, which may read any register.
  if (function.isOutlined() && block.succ_empty()) {
    for (unsigned i = 0; i < NUMBERS; ++i) live_.addReg(x86.gpr(i, 64));
    live_.addReg(x86.flags());
  }
}

bool Site::commit() {
  Switches& switches = Switches::get();
  if (!switches.spend()) return false;
  switches.count(rule, function.getName());
  return true;
}

bool Site::may_change(llvm::Register reg) const {
  return kept_.empty() || llvm::MachineOperand::clobbersPhysReg(kept_.data(), reg);
}

bool Site::is_dead(llvm::Register reg) const {
  const llvm::Register whole = x86.gpr(x86.number(reg), 64);
  return live_.available(function_registers_, whole) && may_change(whole);
}

llvm::Register Site::find_scratch(const llvm::MachineInstr& instruction, unsigned bits) const {
  for (unsigned number : {C, D, SI, DI, A}) {
    const llvm::Register reg = x86.gpr(number, 64);
    if (is_dead(reg) && !instruction.readsRegister(reg, &registers_) &&
        !instruction.modifiesRegister(reg, &registers_))
      return x86.gpr(number, bits);
  }
  return {};
}

llvm::MachineInstrBuilder Site::insert(llvm::MachineInstr& before, Opcode opcode) const {
  return llvm::BuildMI(*before.getParent(), before, before.getDebugLoc(),
                       instructions_.get(x86.number(opcode)))
      .setMIFlags(before.getFlags());
}

}  // namespace compiler_gym::linker
