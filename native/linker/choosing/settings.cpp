#include "choosing/settings.h"

#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>

#include "choosing/traits.h"

namespace compiler_gym::linker {
namespace {

constexpr llvm::StringLiteral mark = "compiler-gym-setting";
constexpr llvm::StringLiteral frames = "frame-pointer";
constexpr llvm::StringLiteral with_calls = "non-leaf";

constexpr llvm::StringLiteral no_preparation[] = {"machine-cse", "codegenprepare"};

// Fitted to the bytes that each setting saves for its time in training programs.

// A pointer takes four bytes, and saves three or four in the unwind table for each push and pop.
bool saves_few_registers(const Traits& function) {
  if (!function.has_pointer) return function.kept > 2;
  if (function.kept <= 1) return function.instructions <= 36;
  return function.calls <= 6 && !function.phis && function.crossing;
}

// Addresses that are recomputed need no callee-saved registers.
bool keeps_addresses(const Traits& function) { return function.calls > 1 && function.stores <= 3; }

// The default allocator splits long live ranges and inserts copies where the parts meet.
bool has_long_lives(const Traits& function) {
  return function.crossing > 19 && function.stores <= 12;
}

constexpr Setting settings[] = {
    {.name = "frame", .is_likely = saves_few_registers, .changes_frame = true},
    {.name = "unprepared", .is_likely = keeps_addresses, .skipped = no_preparation},
    {.name = "simple", .is_likely = has_long_lives, .allocates_simply = true},
};

bool is_allocated_simply(const llvm::TargetRegisterInfo&,
                         const llvm::MachineRegisterInfo& registers, llvm::Register which) {
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
  // Frame pointers in all functions are meant for profilers; those in functions with calls only
  // save bytes.
  const llvm::StringRef frame = function.getFnAttribute(frames).getValueAsString();
  return !setting.changes_frame ||
         ((frame.empty() || frame == "none" || frame.starts_with(with_calls)) &&
          has_calls(function));
}

void apply(const Setting& setting, llvm::Function& function) {
  function.addFnAttr(mark, setting.name);
  if (setting.changes_frame) {
    const llvm::StringRef frame = function.getFnAttribute(frames).getValueAsString();
    function.addFnAttr(frames, frame.starts_with(with_calls) ? "none" : "non-leaf-no-reserve");
  }
}

const Setting* find_setting(const llvm::Function& function) {
  const llvm::StringRef name = function.getFnAttribute(mark).getValueAsString();
  if (name.empty()) return nullptr;
  return llvm::find_if(settings, [&](const Setting& setting) { return setting.name == name; });
}

void follow_settings(llvm::TargetPassConfig& passes) {
  // The default allocator runs afterwards and finds nothing left to allocate in these functions.
  passes.insertPass(&llvm::MachineSchedulerID,
                    llvm::createBasicRegisterAllocator(is_allocated_simply));
}

}  // namespace compiler_gym::linker
