// mov %rsp, %rbp  ->  lea -108(%rsp), %rbp
//
// An offset of one byte reaches 128 bytes below the frame pointer and 127 above, but almost all of
// a frame lies below. With the pointer 108 bytes further down, one byte reaches 236 bytes of the
// frame and the first argument on the stack: 3 bytes less for each access, 3 more for the frame.
// The unwind table describes the frame exactly. Code that follows the chain of saved frame pointers
// without the table no longer finds the callers: a program that may do so keeps its frames, and so
// does one with frame pointers in all functions, which are meant for profilers.

#include "encodings/shift_frame.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/TargetFrameLowering.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCDwarf.h>

#include "encodings/x86.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

constexpr llvm::StringLiteral rule = "shift-frame";
constexpr std::int64_t distance = 108;
constexpr int wide = 3;        // additional bytes of an offset that needs more than one
constexpr int set_up = 2 + 1;  // additional bytes of code, and of the unwind table

// All instructions of a function that must change.
struct Frame {
  llvm::MachineInstr* setup = nullptr;
  llvm::SmallVector<llvm::MachineInstr*> restores;  // mov %rbp, %rsp
  llvm::SmallVector<llvm::MachineOperand*> offsets;
  llvm::SmallVector<llvm::MachineInstr*> variables;
};

// Record how an instruction uses the frame pointer; return false for an unknown use.
bool read_instruction(llvm::MachineInstr& instruction, const X86& x86, Frame& frame) {
  const Opcode opcode = x86.opcode(instruction);
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    llvm::MachineOperand& operand = instruction.getOperand(i);
    if (!operand.isReg() || x86.number(operand.getReg()) != BP) continue;
    if (instruction.isDebugValue()) {
      if (!llvm::is_contained(frame.variables, &instruction))
        frame.variables.push_back(&instruction);
    } else if (opcode == MOV64rr && instruction.getFlag(llvm::MachineInstr::FrameSetup) && i == 0) {
      if (frame.setup || x86.number(instruction.getOperand(1).getReg()) != SP) return false;
      frame.setup = &instruction;
    } else if (opcode == MOV64rr && instruction.getFlag(llvm::MachineInstr::FrameDestroy) &&
               i == 1 && x86.number(instruction.getOperand(0).getReg()) == SP) {
      frame.restores.push_back(&instruction);
    } else if (llvm::MachineOperand* offset = find_offset(instruction, i);
               offset && offset->isImm()) {
      frame.offsets.push_back(offset);
    } else if (!(opcode == PUSH64r && instruction.getFlag(llvm::MachineInstr::FrameSetup)) &&
               !(opcode == POP64r && instruction.getFlag(llvm::MachineInstr::FrameDestroy))) {
      return false;
    }
  }
  return true;
}

bool is_wide(std::int64_t offset) { return !llvm::isInt<8>(offset); }

int count_saved_bytes(const Frame& frame) {
  int bytes = -set_up - 2 * static_cast<int>(frame.restores.size());
  for (const llvm::MachineOperand* offset : frame.offsets)
    bytes += wide * (is_wide(offset->getImm()) - is_wide(offset->getImm() + distance));
  return bytes;
}

bool may_shift(const llvm::MachineFunction& function) {
  const llvm::MachineFrameInfo& frame = function.getFrameInfo();
  const llvm::TargetSubtargetInfo& subtarget = function.getSubtarget();
  const llvm::Function& source = function.getFunction();
  return source.hasMinSize() &&
         source.getFnAttribute("frame-pointer").getValueAsString() != "all" &&
         !source.hasFnAttribute("instrument-function-entry-inlined") &&
         subtarget.getFrameLowering()->hasFP(function) &&
         !subtarget.getRegisterInfo()->hasStackRealignment(function) &&
         !frame.isFrameAddressTaken() && !frame.isReturnAddressTaken() && !frame.hasStackMap() &&
         !frame.hasPatchPoint() && !function.callsEHReturn() && !function.callsUnwindInit() &&
         !function.hasEHFunclets();
}

bool sees_frame(const llvm::CallBase& call) {
  if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
    return llvm::StringRef(assembly->getAsmString()).contains("bp");
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::frameaddress:
    case llvm::Intrinsic::read_register:
    case llvm::Intrinsic::read_volatile_register: return true;
    case llvm::Intrinsic::returnaddress:
      return !llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->isZero();
    default: return false;
  }
}

// Return whether a program can observe the targets of frame pointers: it takes the address of a
// frame, or has assembly that names the register.
bool walks_frames(const llvm::Module& module) {
  if (llvm::StringRef(module.getModuleInlineAsm()).contains("bp")) return true;
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
          call && sees_frame(*call))
        return true;
  return false;
}

// Describe a variable relative to the new frame pointer.
void move_variable(llvm::MachineInstr& variable, const X86& x86) {
  const llvm::DIExpression* expression = variable.getDebugExpression();
  if (variable.isDebugValueList()) {
    unsigned argument = 0;
    for (const llvm::MachineOperand& operand : variable.debug_operands()) {
      if (operand.isReg() && x86.number(operand.getReg()) == BP)
        expression = llvm::DIExpression::appendOpsToArg(
            expression, {llvm::dwarf::DW_OP_plus_uconst, std::uint64_t(distance)}, argument);
      ++argument;
    }
  } else {
    std::uint8_t flags = llvm::DIExpression::ApplyOffset;
    if (!variable.isIndirectDebugValue() && !expression->isComplex())
      flags |= llvm::DIExpression::StackValue;
    expression = llvm::DIExpression::prepend(expression, flags, distance);
  }
  variable.getDebugExpressionOp().setMetadata(expression);
}

void add_address(llvm::MachineInstr& move, const X86& x86, std::int64_t offset) {
  const llvm::TargetInstrInfo& instructions = *move.getMF()->getSubtarget().getInstrInfo();
  llvm::BuildMI(*move.getParent(), move, move.getDebugLoc(), instructions.get(x86.number(LEA64r)),
                move.getOperand(0).getReg())
      .add(move.getOperand(1))
      .addImm(1)
      .addReg(0)
      .addImm(offset)
      .addReg(0)
      .setMIFlags(move.getFlags());
  move.eraseFromParent();
}

// Record in the unwind table, which is read after the instruction, the new offset of the frame.
bool shift_table(llvm::MachineInstr& setup) {
  llvm::MachineFunction& function = *setup.getMF();
  if (!function.needsFrameMoves()) return true;
  llvm::MachineInstr* note = setup.getNextNode();
  if (!note || !note->isCFIInstruction()) return false;
  const llvm::MCCFIInstruction old =
      function.getFrameInstructions()[note->getOperand(0).getCFIIndex()];
  if (old.getOperation() != llvm::MCCFIInstruction::OpDefCfaRegister) return false;
  const int below_frame = 16;  // the return address, and the saved frame pointer
  const unsigned index = function.addFrameInst(
      llvm::MCCFIInstruction::cfiDefCfa(nullptr, old.getRegister(), below_frame + distance));
  llvm::BuildMI(*note->getParent(), note, note->getDebugLoc(), note->getDesc())
      .addCFIIndex(index)
      .setMIFlags(note->getFlags());
  note->eraseFromParent();
  return true;
}

class ShiftFrame : public llvm::MachineFunctionPass {
 public:
  static char ID;
  ShiftFrame() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override { return "Frame pointers in the middle of frames"; }
  bool doInitialization(llvm::Module& module) override {
    walks_frames_ = walks_frames(module);
    return false;
  }
  bool runOnMachineFunction(llvm::MachineFunction&) override;

 private:
  bool walks_frames_ = false;
};

char ShiftFrame::ID = 0;

bool ShiftFrame::runOnMachineFunction(llvm::MachineFunction& function) {
  Switches& switches = Switches::get();
  if (walks_frames_ || skipFunction(function.getFunction()) || !switches.allows(rule) ||
      !may_shift(function))
    return false;
  const X86& x86 =
      X86::get(*function.getSubtarget().getInstrInfo(), *function.getSubtarget().getRegisterInfo());
  Frame frame;
  for (llvm::MachineBasicBlock& block : function)
    for (llvm::MachineInstr& instruction : block)
      if (!read_instruction(instruction, x86, frame)) return false;
  if (!frame.setup || count_saved_bytes(frame) <= 0 || !switches.spend()) return false;
  if (!shift_table(*frame.setup)) return false;
  switches.count(rule, function.getName());
  for (llvm::MachineOperand* offset : frame.offsets) offset->setImm(offset->getImm() + distance);
  for (llvm::MachineInstr* variable : frame.variables) move_variable(*variable, x86);
  for (llvm::MachineInstr* restore : frame.restores) add_address(*restore, x86, distance);
  add_address(*frame.setup, x86, -distance);
  // Debug information for variables is computed from these.
  llvm::MachineFrameInfo& objects = function.getFrameInfo();
  for (int i = objects.getObjectIndexBegin(); i < objects.getObjectIndexEnd(); ++i)
    if (!objects.isDeadObjectIndex(i))
      objects.setObjectOffset(i, objects.getObjectOffset(i) + distance);
  return true;
}

// For `llc -load=compiler_gym_size.so -run-pass=compiler-gym-shift-frame`.
const llvm::RegisterPass<ShiftFrame> shift_frame_registration(
    "compiler-gym-shift-frame", "Frame pointers in the middle of frames");

}  // namespace

llvm::FunctionPass* create_shift_frame_pass() { return new ShiftFrame(); }

}  // namespace compiler_gym::linker
