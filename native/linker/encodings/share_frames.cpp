// push %rbp; mov %rsp, %rbp; push %r15; ... push %rbx  ->  call save_r15_..._rbx
// add $40, %rsp; pop %rbx; ... pop %r15; pop %rbp; ret  ->  jmp restore_rbx_..._r15
//
// Functions with a frame pointer that save the same registers share one function that saves them
// and one that restores them, if that is smaller including the new unwind table entries. A function
// start executes 4 instructions more and a return 1; call and return stay paired for the processor.
// An interrupt in a shared part unwinds exactly: the tables describe it like any other code.

#include "encodings/share_frames.h"

#include <llvm/CodeGen/LivePhysRegs.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/RegisterUsageInfo.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCDwarf.h>
#include <llvm/Target/TargetMachine.h>
#include <map>
#include <vector>

#include "encodings/x86.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

constexpr llvm::StringLiteral save_rule = "share-save", restore_rule = "share-restore";
constexpr unsigned r11 = 11;  // free at the start of a function and at calls
// Sizes in the unwind table: an entry for a function, with its slot in the search table, and the
// instructions that a function no longer needs.
constexpr int table_entry = 32, save_entry = 12, restore_entry = 11, spared_save = 3,
              spared_restore = 4;
constexpr int call_bytes = 5;

// The properties that functions must agree on to share code: the saved registers in the order of
// their pushes, the distance of the frame pointer from its usual place, and whether a table
// describes the frame.
struct Shape {
  std::vector<unsigned> saved;
  std::int64_t shift = 0;
  bool has_table = false;
  auto operator<=>(const Shape&) const = default;
};

// A run of instructions of one function that can be replaced.
struct Place {
  llvm::SmallVector<llvm::MachineInstr*> code;
  llvm::MachineInstr* end = nullptr;  // the return
  int saved_bytes = 0;
};

struct Group {
  std::vector<Place> saves, restores;
};

int push_bytes(unsigned number) { return number < NUMBERS / 2 ? 1 : 2; }

int push_bytes(const Shape& shape) {
  int bytes = 1;
  for (unsigned number : shape.saved) bytes += push_bytes(number);
  return bytes;
}

llvm::MCCFIInstruction::OpType table_operation(const llvm::MachineInstr& note) {
  return note.getMF()->getFrameInstructions()[note.getOperand(0).getCFIIndex()].getOperation();
}

bool is_push(const llvm::MachineInstr& instruction, const X86& x86) {
  return x86.opcode(instruction) == PUSH64r &&
         instruction.getFlag(llvm::MachineInstr::FrameSetup) &&
         !instruction.getOperand(0).isUndef();
}

// Read a prologue, starting at `push %rbp`. A function that creates its frame in another way shares
// nothing.
bool read_save(llvm::MachineBasicBlock& block, const X86& x86, Shape& shape, Place& place) {
  auto here = llvm::find_if(block, [&](const llvm::MachineInstr& instruction) {
    return is_push(instruction, x86) && x86.number(instruction.getOperand(0).getReg()) == BP;
  });
  bool has_frame = false;
  shape.saved.clear();
  place.code.clear();
  for (; here != block.end(); ++here) {
    llvm::MachineInstr& instruction = *here;
    if (instruction.isDebugInstr()) continue;
    const Opcode opcode = x86.opcode(instruction);
    if (instruction.isCFIInstruction()) {
      if (!instruction.getFlag(llvm::MachineInstr::FrameSetup)) break;
      const auto operation = table_operation(instruction);
      if (operation == llvm::MCCFIInstruction::OpOffset && has_frame) break;
      if (operation != llvm::MCCFIInstruction::OpDefCfaOffset &&
          operation != llvm::MCCFIInstruction::OpOffset &&
          operation != llvm::MCCFIInstruction::OpDefCfaRegister &&
          operation != llvm::MCCFIInstruction::OpDefCfa)
        break;
    } else if (is_push(instruction, x86)) {
      const unsigned number = x86.number(instruction.getOperand(0).getReg());
      if ((number == BP) == has_frame) break;
      if (number != BP) shape.saved.push_back(number);
    } else if (!has_frame && (opcode == MOV64rr || opcode == LEA64r) &&
               instruction.getFlag(llvm::MachineInstr::FrameSetup) &&
               x86.number(instruction.getOperand(0).getReg()) == BP &&
               x86.number(instruction.getOperand(1).getReg()) == SP) {
      has_frame = true;
      if (opcode == LEA64r) shape.shift = -instruction.getOperand(4).getImm();
    } else {
      break;
    }
    place.code.push_back(&instruction);
  }
  place.saved_bytes = push_bytes(shape) + (shape.shift ? 5 : 3) - call_bytes;
  return has_frame;
}

// Read an epilogue from its return upwards. The stack pointer may have any value before.
bool read_restore(llvm::MachineBasicBlock& block, const X86& x86, const Shape& shape,
                  Place& place) {
  const auto last = block.getLastNonDebugInstr();
  if (last == block.end() || x86.opcode(*last) != RET64) return false;
  place.end = &*last;
  unsigned restored = 0;  // the frame pointer, then the registers in the order of their pushes
  place.saved_bytes = 1 - call_bytes;
  for (auto above = std::next(last->getReverseIterator()); above != block.rend(); ++above) {
    if (above->isDebugInstr()) continue;
    if (!above->getFlag(llvm::MachineInstr::FrameDestroy)) break;
    const Opcode opcode = x86.opcode(*above);
    if (above->isCFIInstruction()) {
      if (restored > 0 || table_operation(*above) != llvm::MCCFIInstruction::OpDefCfa) return false;
    } else if (opcode == POP64r && restored <= shape.saved.size()) {
      const unsigned number = x86.number(above->getOperand(0).getReg());
      if (number != (restored == 0 ? BP : shape.saved[restored - 1])) return false;
      ++restored;
      place.saved_bytes += push_bytes(number);
    } else if (restored <= shape.saved.size()) {
      return false;
    } else if ((opcode == ADD64ri32 || opcode == LEA64r || opcode == MOV64rr) &&
               x86.number(above->getOperand(0).getReg()) == SP) {
      const bool is_wide = opcode == ADD64ri32 && !llvm::isInt<8>(above->getOperand(2).getImm());
      place.saved_bytes += opcode == MOV64rr ? 3 : is_wide ? 7 : 4;
    } else if (opcode == POP64r) {
      ++place.saved_bytes;
    } else {
      break;
    }
    place.code.push_back(&*above);
  }
  return restored == shape.saved.size() + 1;
}

bool may_share(const llvm::MachineFunction& function) {
  const llvm::Function& source = function.getFunction();
  const auto convention = source.getCallingConv();
  return source.hasMinSize() && !source.hasOptNone() && !source.hasSection() &&
         !function.isOutlined() && !function.shouldSplitStack() && !function.callsEHReturn() &&
         !function.hasEHFunclets() &&
         (convention == llvm::CallingConv::C || convention == llvm::CallingConv::Fast ||
          convention == llvm::CallingConv::Cold) &&
         !source.hasFnAttribute("no_caller_saved_registers") &&
         !source.hasFnAttribute(llvm::Attribute::FnRetThunkExtern) &&
         !source.hasFnAttribute("no_callee_saved_registers");
}

// Writes a function of machine code.
class Writer {
 public:
  Writer(llvm::MachineFunction& function, const X86& x86, bool has_table)
      : function_(function),
        has_table_(has_table),
        instructions_(*function.getSubtarget().getInstrInfo()),
        registers_(*function.getSubtarget().getRegisterInfo()),
        x86_(x86),
        block_(function.CreateMachineBasicBlock()) {
    function.insert(function.end(), block_);
    auto& properties = function.getProperties();
    properties.resetIsSSA();
    properties.setNoPHIs();
    properties.setNoVRegs();
    properties.setTracksLiveness();
    function.getRegInfo().freezeReservedRegs();
    function.setIsOutlined(true);
  }

  llvm::MachineInstrBuilder add(Opcode opcode) {
    return llvm::BuildMI(block_, llvm::DebugLoc(), instructions_.get(x86_.number(opcode)));
  }
  void push(unsigned number) {
    if (number != r11) block_->addLiveIn(x86_.gpr(number, 64).asMCReg());
    add(PUSH64r).addReg(x86_.gpr(number, 64));
  }
  void pop(unsigned number) { add(POP64r).addReg(x86_.gpr(number, 64), llvm::RegState::Define); }
  void copy_address(unsigned to, unsigned base, std::int64_t offset) {
    if (base != SP) block_->addLiveIn(x86_.gpr(base, 64).asMCReg());
    if (offset == 0) {
      add(MOV64rr).addReg(x86_.gpr(to, 64), llvm::RegState::Define).addReg(x86_.gpr(base, 64));
      return;
    }
    add(LEA64r)
        .addReg(x86_.gpr(to, 64), llvm::RegState::Define)
        .addReg(x86_.gpr(base, 64))
        .addImm(1)
        .addReg(0)
        .addImm(offset)
        .addReg(0);
  }
  // The number of a general register, or of the return address, in the unwind table.
  unsigned table_number(unsigned number) const {
    return registers_.getDwarfRegNum(x86_.gpr(number, 64).asMCReg(), true);
  }
  unsigned return_number() const { return registers_.getDwarfRegNum(x86_.rip().asMCReg(), true); }
  void note(const llvm::MCCFIInstruction& note) {
    if (has_table_)
      llvm::BuildMI(block_, llvm::DebugLoc(),
                    instructions_.get(llvm::TargetOpcode::CFI_INSTRUCTION))
          .addCFIIndex(function_.addFrameInst(note));
  }

 private:
  llvm::MachineFunction& function_;
  const bool has_table_;
  const llvm::TargetInstrInfo& instructions_;
  const llvm::TargetRegisterInfo& registers_;
  const X86& x86_;
  llvm::MachineBasicBlock* block_;
};

using Note = llvm::MCCFIInstruction;

constexpr int slot = 8,
              above_frame = 2 * slot;  // the return address and the caller's frame pointer

// The return address is kept in a register while the frame is pushed in its place.
void write_save(Writer& writer, const Shape& shape) {
  writer.pop(r11);
  writer.note(Note::cfiDefCfaOffset(nullptr, 0));
  writer.note(Note::createRegister(nullptr, writer.return_number(), writer.table_number(r11)));
  writer.push(BP);
  writer.note(Note::cfiDefCfaOffset(nullptr, slot));
  writer.note(Note::createOffset(nullptr, writer.table_number(BP), -slot));
  writer.copy_address(BP, SP, -shape.shift);
  writer.note(Note::cfiDefCfa(nullptr, writer.table_number(BP), slot + shape.shift));
  for (unsigned number : shape.saved) writer.push(number);
  writer.push(r11);
  writer.add(RET64);
}

void write_restore(Writer& writer, const Shape& shape) {
  writer.note(Note::cfiDefCfa(nullptr, writer.table_number(BP), above_frame + shape.shift));
  writer.note(Note::createOffset(nullptr, writer.table_number(BP), -above_frame));
  int offset = above_frame;
  for (unsigned number : shape.saved)
    writer.note(Note::createOffset(nullptr, writer.table_number(number), -(offset += slot)));
  writer.copy_address(SP, BP, shape.shift - slot * static_cast<int>(shape.saved.size()));
  for (unsigned number : llvm::reverse(shape.saved)) writer.pop(number);
  writer.pop(BP);
  writer.note(Note::cfiDefCfa(nullptr, writer.table_number(SP), slot));
  writer.add(RET64);
}

class ShareFrames : public llvm::ModulePass {
 public:
  static char ID;
  ShareFrames() : ModulePass(ID) {}

  llvm::StringRef getPassName() const override { return "Shared code for frames"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.addRequired<llvm::MachineModuleInfoWrapperPass>();
    usage.addPreserved<llvm::MachineModuleInfoWrapperPass>();
    usage.setPreservesAll();
  }
  bool runOnModule(llvm::Module&) override;

 private:
  bool may_change_r11(const llvm::MachineInstr& before, const X86&) const;
  void read_function(llvm::MachineFunction&);
  bool share(llvm::StringLiteral rule, const Shape&, std::vector<Place>&);
  llvm::Function& create(llvm::StringLiteral rule, const Shape&,
                         const llvm::MachineFunction& model);

  llvm::MachineModuleInfo* machine_ = nullptr;
  llvm::PhysicalRegisterUsageInfo* usage_ = nullptr;
  std::map<Shape, Group> groups_;
};

char ShareFrames::ID = 0;

// IPRA lets callers keep values in any register that a function does not name. A prologue may
// also follow other code in its block.
bool ShareFrames::may_change_r11(const llvm::MachineInstr& before, const X86& x86) const {
  const llvm::MachineFunction& function = *before.getMF();
  const llvm::MCRegister reg = x86.gpr(r11, 64).asMCReg();
  llvm::ArrayRef<std::uint32_t> kept;
  if (usage_) kept = usage_->getRegUsageInfo(function.getFunction());
  if (!kept.empty() && !llvm::MachineOperand::clobbersPhysReg(kept.data(), reg)) return false;
  const llvm::MachineBasicBlock& block = *before.getParent();
  llvm::LivePhysRegs live(*function.getSubtarget().getRegisterInfo());
  live.addLiveOuts(block);
  for (auto here = block.rbegin(); here != std::next(before.getReverseIterator()); ++here)
    live.stepBackward(*here);
  return live.available(function.getRegInfo(), reg);
}

void ShareFrames::read_function(llvm::MachineFunction& function) {
  const X86& x86 =
      X86::get(*function.getSubtarget().getInstrInfo(), *function.getSubtarget().getRegisterInfo());
  Shape shape;
  Place save;
  shape.has_table = function.needsFrameMoves();
  for (llvm::MachineBasicBlock& block : function) {
    if (!read_save(block, x86, shape, save)) continue;
    if (shape.saved.empty()) return;
    Group& group = groups_[shape];
    if (may_change_r11(*save.code.front(), x86)) group.saves.push_back(save);
    if (loses_frame(function, x86)) return;
    for (llvm::MachineBasicBlock& end : function) {
      Place restore;
      if (end.isReturnBlock() && read_restore(end, x86, shape, restore))
        group.restores.push_back(restore);
    }
    return;
  }
}

llvm::Function& ShareFrames::create(llvm::StringLiteral rule, const Shape& shape,
                                    const llvm::MachineFunction& model) {
  const llvm::Function& source = model.getFunction();
  llvm::Module& module = *const_cast<llvm::Module*>(source.getParent());
  llvm::LLVMContext& context = module.getContext();
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                             llvm::GlobalValue::InternalLinkage,
                             "compiler_gym_" + rule.substr(rule.find('-') + 1), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::MinSize);
  function->addFnAttr(llvm::Attribute::OptimizeForSize);
  if (shape.has_table) function->setUWTableKind(llvm::UWTableKind::Async);
  for (llvm::StringRef name : {"target-cpu", "target-features"})
    if (source.hasFnAttribute(name)) function->addFnAttr(source.getFnAttribute(name));
  llvm::ReturnInst::Create(context, llvm::BasicBlock::Create(context, "entry", function));
  llvm::MachineFunction& machine = machine_->getOrCreateMachineFunction(*function);
  const auto& subtarget = machine.getSubtarget();
  Writer writer(machine, X86::get(*subtarget.getInstrInfo(), *subtarget.getRegisterInfo()),
                shape.has_table);
  (rule == save_rule ? write_save : write_restore)(writer, shape);
  return *function;
}

// Replace these places with one function, if that is smaller.
bool ShareFrames::share(llvm::StringLiteral rule, const Shape& shape, std::vector<Place>& places) {
  Switches& switches = Switches::get();
  const bool is_save = rule == save_rule;
  int saved = -push_bytes(shape) - (is_save ? shape.shift ? 10 : 8 : 5);
  const int registers = static_cast<int>(shape.saved.size());
  if (shape.has_table)
    saved -= table_entry + (is_save ? save_entry : restore_entry + 2 * registers);
  for (const Place& place : places)
    saved += place.saved_bytes + (shape.has_table ? is_save ? spared_save : spared_restore : 0);
  if (saved <= 0 || !switches.allows(rule)) return false;
  llvm::Function* shared = nullptr;
  for (Place& place : places) {
    llvm::MachineInstr& first = *place.code.front();
    llvm::MachineFunction& function = *first.getMF();
    if (!switches.spend()) break;
    switches.count(rule, function.getName());
    if (!shared) shared = &create(rule, shape, function);
    const auto& instructions = *function.getSubtarget().getInstrInfo();
    const X86& x86 = X86::get(instructions, *function.getSubtarget().getRegisterInfo());
    llvm::MachineInstr& before = is_save ? first : *place.end;
    llvm::MachineBasicBlock& block = *before.getParent();
    auto call = llvm::BuildMI(block, before, before.getDebugLoc(),
                              instructions.get(x86.number(is_save ? CALL64pcrel32 : TAILJMPd64)))
                    .addGlobalAddress(shared)
                    .setMIFlags(first.getFlags());
    if (is_save) {
      const auto note = [&](const llvm::MCCFIInstruction& text) {
        llvm::BuildMI(block, before, before.getDebugLoc(),
                      instructions.get(llvm::TargetOpcode::CFI_INSTRUCTION))
            .addCFIIndex(function.addFrameInst(text))
            .setMIFlag(llvm::MachineInstr::FrameSetup);
      };
      for (unsigned number : shape.saved)
        call.addReg(x86.gpr(number, 64), llvm::RegState::Implicit);
      call.addReg(x86.gpr(BP, 64), llvm::RegState::Implicit)
          .addReg(x86.gpr(BP, 64), llvm::RegState::ImplicitDefine)
          .addReg(x86.gpr(r11, 64), llvm::RegState::ImplicitDefine | llvm::RegState::Dead);
      if (shape.has_table) {
        const auto& registers = *function.getSubtarget().getRegisterInfo();
        const unsigned frame = registers.getDwarfRegNum(x86.gpr(BP, 64).asMCReg(), true);
        note(Note::cfiDefCfa(nullptr, frame, above_frame + shape.shift));
        note(Note::createOffset(nullptr, frame, -above_frame));
      }
    } else {
      call.addReg(x86.gpr(BP, 64), llvm::RegState::Implicit).copyImplicitOps(*place.end);
      place.end->eraseFromParent();
    }
    for (llvm::MachineInstr* old : place.code) old->eraseFromParent();
  }
  return shared;
}

bool ShareFrames::runOnModule(llvm::Module& module) {
  machine_ = &getAnalysis<llvm::MachineModuleInfoWrapperPass>().getMMI();
  auto* usage = getAnalysisIfAvailable<llvm::PhysicalRegisterUsageInfoWrapperLegacy>();
  usage_ = usage ? &usage->getPRUI() : nullptr;
  groups_.clear();
  if (machine_->getTarget().getCodeModel() == llvm::CodeModel::Large) return false;
  for (llvm::Function& source : module) {
    llvm::MachineFunction* function = machine_->getMachineFunction(source);
    if (function && may_share(*function)) read_function(*function);
  }
  bool changed = false;
  for (auto& [shape, group] : groups_) {
    changed |= share(save_rule, shape, group.saves);
    changed |= share(restore_rule, shape, group.restores);
  }
  Switches::get().report();
  return changed;
}

// For `llc -load=compiler_gym_size.so -run-pass=compiler-gym-share-frames`.
const llvm::RegisterPass<ShareFrames> share_frames_registration("compiler-gym-share-frames",
                                                                "Shared code for frames");

}  // namespace

llvm::ModulePass* create_share_frames_pass() { return new ShareFrames(); }

}  // namespace compiler_gym::linker
