#include "choosing/settings.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/PassInfo.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <mutex>

namespace compiler_gym::linker {
namespace {

constexpr llvm::StringLiteral mark = "compiler-gym-setting";
constexpr llvm::StringLiteral frames = "frame-pointer";
constexpr llvm::StringLiteral with_calls = "non-leaf";

constexpr llvm::StringLiteral cse = "Machine Common Subexpression Elimination";
constexpr llvm::StringLiteral no_cse[] = {cse};
constexpr llvm::StringLiteral no_preparation[] = {cse, "CodeGen Prepare"};

constexpr Setting settings[] = {
    // A pointer takes four bytes, and saves three or four in the unwind table for each push and
    // pop.
    {.name = "frame", .to = 70, .changes_frame = true},
    // Where exceptions are handled, the unwind table describes each argument that is pushed.
    {.name = "stores", .from = 100, .stores_arguments = true},
    // Values that are computed again are not kept in registers that must be saved.
    {.name = "simple", .from = 25, .allocates_simply = true, .skipped = no_cse},
    {.name = "unprepared", .from = 15, .skipped = no_preparation},
};

// Sets and clears the option of the pass that turns stores into pushes; the pass has nothing else
// to be told by. Other threads must not see what is meant for one function.
class Pushes : public llvm::MachineFunctionPass {
 public:
  static char ID;
  explicit Pushes(bool before) : MachineFunctionPass(ID), before_(before) {}

  llvm::StringRef getPassName() const override { return "Push or store arguments"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction&) override;

 private:
  static std::mutex others_wait_;
  static bool usual_;

  bool before_;
};

char Pushes::ID = 0;
std::mutex Pushes::others_wait_;
bool Pushes::usual_ = false;

bool Pushes::runOnMachineFunction(llvm::MachineFunction& function) {
  auto& stores = *static_cast<llvm::cl::opt<bool>*>(
      llvm::cl::getRegisteredOptions().find("no-x86-call-frame-opt")->second);
  if (before_) {
    others_wait_.lock();
    usual_ = stores;
    const Setting* setting = find_setting(function.getFunction());
    if (setting && setting->stores_arguments) stores = true;
  } else {
    stores = usual_;
    others_wait_.unlock();
  }
  return false;
}

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
  const unsigned size = function.getInstructionCount();
  if (size < setting.from || (setting.stores_arguments && !function.hasPersonalityFn()))
    return false;
  if (!setting.changes_frame) return size <= setting.to;
  // Pointers in all functions are for profilers, and those in functions with calls save bytes. In a
  // large function one is dear to remove, and cheap to add.
  const llvm::StringRef frame = function.getFnAttribute(frames).getValueAsString();
  const bool has_none = frame.empty() || frame == "none";
  return (has_none || (frame.starts_with(with_calls) && size <= setting.to)) && has_calls(function);
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
  // The usual allocator runs afterwards, and finds nothing left to do in these functions.
  passes.insertPass(&llvm::MachineSchedulerID,
                    llvm::createBasicRegisterAllocator(is_allocated_simply));
  const llvm::PassRegistry& registry = *llvm::PassRegistry::getPassRegistry();
  const llvm::PassInfo* above = registry.getPassInfo("x86-optimize-leas");
  const llvm::PassInfo* pushes = registry.getPassInfo("x86-cf-opt");
  if (!above || !pushes) return;
  passes.insertPass(above->getTypeInfo(), new Pushes(true));
  passes.insertPass(pushes->getTypeInfo(), new Pushes(false));
}

}  // namespace compiler_gym::linker
