#include "encodings/site.h"

#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/TargetFrameLowering.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>

#include "switches.h"

namespace compiler_gym::linker {

namespace {

// The effect of an instruction on the meaning of the frame pointer: it creates a frame, ends it, or
// neither.
enum class FrameChange { NONE, MADE, ENDED };

FrameChange change_frame(const llvm::MachineInstr& instruction, const X86& x86) {
  const Opcode opcode = x86.opcode(instruction);
  if (opcode == LEAVE64 && instruction.getFlag(llvm::MachineInstr::FrameDestroy))
    return FrameChange::ENDED;
  if (opcode != MOV64rr && opcode != LEA64r && opcode != POP64r) return FrameChange::NONE;
  if (x86.number(instruction.getOperand(0).getReg()) != BP) return FrameChange::NONE;
  if (opcode != POP64r && instruction.getFlag(llvm::MachineInstr::FrameSetup))
    return FrameChange::MADE;
  return opcode == POP64r && instruction.getFlag(llvm::MachineInstr::FrameDestroy)
             ? FrameChange::ENDED
             : FrameChange::NONE;
}

}  // namespace

Site::Site(llvm::MachineFunction& function, const llvm::MachineLoopInfo& loops,
           llvm::ArrayRef<std::uint32_t> kept)
    : x86(X86::get(*function.getSubtarget().getInstrInfo(),
                   *function.getSubtarget().getRegisterInfo())),
      function(function),
      instructions_(*function.getSubtarget().getInstrInfo()),
      registers_(*function.getSubtarget().getRegisterInfo()),
      function_registers_(function.getRegInfo()),
      kept_(kept),
      loops_(loops),
      live_(registers_),
      framed_(function.getNumBlockIDs()),
      loses_frame_(loses_frame(function, x86)) {
  if (function.getSubtarget().getFrameLowering()->hasFP(function)) find_frames();
}

// A frame may begin in the middle of a function if a shorter path through it needs none.
void Site::find_frames() {
  llvm::BitVector seen(function.getNumBlockIDs());
  llvm::SmallVector<const llvm::MachineBasicBlock*> open{&function.front()};
  seen.set(function.front().getNumber());
  while (!open.empty()) {
    const llvm::MachineBasicBlock& block = *open.pop_back_val();
    bool framed = framed_[block.getNumber()];
    for (const llvm::MachineInstr& instruction : block) {
      const FrameChange change = change_frame(instruction, x86);
      if (change != FrameChange::NONE) framed = change == FrameChange::MADE;
    }
    for (const llvm::MachineBasicBlock* next : block.successors())
      if (!seen[next->getNumber()]) {
        seen.set(next->getNumber());
        framed_[next->getNumber()] = framed;
        open.push_back(next);
      }
  }
}

bool Site::has_frame_at(const llvm::MachineInstr& instruction) const {
  if (!function.needsFrameMoves()) return true;
  if (loses_frame_) return false;
  for (const llvm::MachineInstr* above = instruction.getPrevNode(); above;
       above = above->getPrevNode()) {
    const FrameChange change = change_frame(*above, x86);
    if (change != FrameChange::NONE) return change == FrameChange::MADE;
  }
  return framed_[instruction.getParent()->getNumber()];
}

// LLVM keeps values there only in functions in which no other code moves the stack pointer; inline
// assembly may move it in these functions, too.
bool Site::may_use_red_zone() const {
  const llvm::MachineFrameInfo& frame = function.getFrameInfo();
  return !frame.adjustsStack() &&
         !function.getFunction().hasFnAttribute(llvm::Attribute::NoRedZone) &&
         (function.hasInlineAsm() || (frame.hasStackObjects() && !frame.hasVarSizedObjects()));
}

bool Site::may_push(const llvm::MachineInstr& instruction) const {
  return !may_use_red_zone() && !function.isOutlined() &&
         !instruction.getFlag(llvm::MachineInstr::FrameSetup) &&
         !instruction.getFlag(llvm::MachineInstr::FrameDestroy) && has_frame_at(instruction);
}

llvm::MachineInstr* Site::next(llvm::MachineInstr& instruction) const {
  llvm::MachineInstr* below = instruction.getNextNode();
  while (below && (below->isDebugInstr() || below->isKill())) below = below->getNextNode();
  return below;
}

const llvm::MCInstrDesc& Site::description(Opcode opcode) const {
  return instructions_.get(x86.number(opcode));
}

void Site::clear(llvm::MachineInstr& before, llvm::Register reg) const {
  insert(before, XOR32rr)
      .addReg(reg, llvm::RegState::Define)
      .addReg(reg, llvm::RegState::Undef)
      .addReg(reg, llvm::RegState::Undef)
      ->addRegisterDead(x86.flags(), &registers_);
}

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
  return llvm::BuildMI(*before.getParent(), before, before.getDebugLoc(), description(opcode))
      .setMIFlags(before.getFlags());
}

}  // namespace compiler_gym::linker
