#include "choosing/settings.h"

#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/MachinePassRegistry.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/SchedulerRegistry.h>
#include <llvm/CodeGen/SelectionDAGISel.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/CommandLine.h>
#include <mutex>

namespace compiler_gym::linker {
namespace {

constexpr llvm::StringLiteral mark = "compiler-gym-setting";
constexpr llvm::StringLiteral frames = "frame-pointer";

constexpr llvm::StringLiteral cse[] = {"Machine Common Subexpression Elimination"};
constexpr llvm::StringLiteral preparation[] = {"CodeGen Prepare"};

constexpr Setting settings[] = {
    {.name = "frame", .changes_frame = true},
    {.name = "simple", .allocates_simply = true, .skipped = cse},
    {.name = "fast", .changes_frame = true, .schedules_fast = true},
    {.name = "unprepared", .skipped = preparation},
    {.name = "silvermont", .processor = "silvermont"},
};

using MakeScheduler = llvm::RegisterScheduler::FunctionPassCtor;
MakeScheduler usual_scheduler;

llvm::ScheduleDAGSDNodes* make_scheduler(llvm::SelectionDAGISel* selection,
                                         llvm::CodeGenOptLevel level) {
  const Setting* setting = find_setting(selection->MF->getFunction());
  return setting && setting->schedules_fast ? llvm::createFastDAGScheduler(selection, level)
                                            : usual_scheduler(selection, level);
}

// The option is read once for each function, so a function of ours can decide in its place.
void replace_scheduler() {
  using Option =
      llvm::cl::opt<MakeScheduler, false, llvm::RegisterPassParser<llvm::RegisterScheduler>>;
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find("pre-RA-sched");
  if (found == options.end()) return;
  auto* option = static_cast<Option*>(found->second);
  usual_scheduler = option->getValue();
  option->setValue(make_scheduler);
}

bool is_allocated_simply(const llvm::TargetRegisterInfo&, const llvm::MachineRegisterInfo& registers,
                         llvm::Register which) {
  if (registers.reg_nodbg_empty(which)) return false;
  const llvm::MachineFunction& function = *registers.reg_instr_nodbg_begin(which)->getMF();
  const Setting* setting = find_setting(function.getFunction());
  return setting && setting->allocates_simply;
}

bool has_calls(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
  });
}

}  // namespace

llvm::ArrayRef<Setting> all_settings() { return settings; }

bool can_apply(const Setting& setting, const llvm::Function& function) {
  if (!setting.changes_frame) return true;
  // Frame pointers in all functions are for profilers; in functions with calls they save bytes.
  const llvm::StringRef frame = function.getFnAttribute(frames).getValueAsString();
  return (frame.empty() || frame == "none" || frame == "non-leaf") &&
         (setting.schedules_fast || has_calls(function));
}

void apply(const Setting& setting, llvm::Function& function) {
  function.addFnAttr(mark, setting.name);
  if (setting.changes_frame) {
    const bool has_frame = function.getFnAttribute(frames).getValueAsString() == "non-leaf";
    function.addFnAttr(frames, has_frame ? "none" : "non-leaf");
  }
  if (!setting.processor.empty()) function.addFnAttr("tune-cpu", setting.processor);
}

const Setting* find_setting(const llvm::Function& function) {
  const llvm::StringRef name = function.getFnAttribute(mark).getValueAsString();
  if (name.empty()) return nullptr;
  return llvm::find_if(settings, [&](const Setting& setting) { return setting.name == name; });
}

void follow_settings(llvm::TargetPassConfig& passes) {
  static std::once_flag replaced;
  std::call_once(replaced, replace_scheduler);
  // The usual allocator runs afterwards, and finds nothing left to do in these functions.
  passes.insertPass(&llvm::MachineSchedulerID,
                    llvm::createBasicRegisterAllocator(is_allocated_simply));
}

}  // namespace compiler_gym::linker
