#include "fingerprint.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace compiler_gym::llvm {

using ::llvm::cast;
using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

// Local numbers are even, shared ones odd, see constant().
constexpr std::uint32_t metadata_operand = 0xFFFFFFFE;
constexpr std::uint32_t foreign_user = 0xFFFFFFFC;
constexpr std::uint32_t end_of_uses = 0xFFFFFFFA;
constexpr std::uint32_t start_of_block = 0xFFFFFFF8;

unsigned alignment(::llvm::Align align) { return ::llvm::Log2(align); }

template <class Access>
std::uint32_t access_word(const Access& access) {
  return alignment(access.getAlign()) | access.isVolatile() << 8 |
         static_cast<unsigned>(access.getOrdering()) << 9 | access.getSyncScopeID() << 16;
}

}  // namespace

void Fingerprint::describe_body(const ::llvm::Function& function) {
  locals_.reset(expected_locals_[&function]);
  next_local_ = 0;
  for (const auto& argument : function.args()) {
    local(argument);
    describe_uses(argument);
  }
  for (const auto& block : function) {
    out_.word(start_of_block);
    local(block);
    describe_uses(block);
    for (const auto& instruction : block) describe_instruction(instruction);
  }
  expected_locals_[&function] = next_local_;
}

void Fingerprint::describe_instruction(const ::llvm::Instruction& instruction) {
  ++instruction_count_;
  const bool has_attachments = instruction.hasMetadataOtherThanDebugLoc();
  out_.word(instruction.getOpcode() | instruction.getRawSubclassOptionalData() << 8 |
            has_attachments << 15 | instruction.getNumOperands() << 16);
  local(instruction);
  type(instruction.getType());
  for (const auto& use : instruction.operands()) operand(use);
  describe_details(instruction);
  if (has_attachments) attachments(instruction);
  describe_uses(instruction);
  if (instruction.getDebugLoc() || instruction.DebugMarker) has_debug_info_ = true;
}

// What operands, type and flags leave open.
void Fingerprint::describe_details(const ::llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case ::llvm::Instruction::Alloca: {
      const auto& alloca = cast<::llvm::AllocaInst>(instruction);
      type(alloca.getAllocatedType());
      out_.word(alignment(alloca.getAlign()) | alloca.isUsedWithInAlloca() << 8 |
                alloca.isSwiftError() << 9);
      break;
    }
    case ::llvm::Instruction::Load:
      out_.word(access_word(cast<::llvm::LoadInst>(instruction)));
      break;
    case ::llvm::Instruction::Store:
      out_.word(access_word(cast<::llvm::StoreInst>(instruction)));
      break;
    case ::llvm::Instruction::Fence: {
      const auto& fence = cast<::llvm::FenceInst>(instruction);
      out_.word(static_cast<unsigned>(fence.getOrdering()) | fence.getSyncScopeID() << 8);
      break;
    }
    case ::llvm::Instruction::AtomicCmpXchg: {
      const auto& exchange = cast<::llvm::AtomicCmpXchgInst>(instruction);
      out_.word(alignment(exchange.getAlign()) | exchange.isVolatile() << 8 |
                exchange.isWeak() << 9 |
                static_cast<unsigned>(exchange.getSuccessOrdering()) << 10 |
                static_cast<unsigned>(exchange.getFailureOrdering()) << 14);
      out_.word(exchange.getSyncScopeID());
      break;
    }
    case ::llvm::Instruction::AtomicRMW: {
      const auto& update = cast<::llvm::AtomicRMWInst>(instruction);
      out_.word(access_word(update));
      out_.word(update.getOperation());
      break;
    }
    case ::llvm::Instruction::ICmp:
    case ::llvm::Instruction::FCmp:
      out_.word(cast<::llvm::CmpInst>(instruction).getPredicate());
      break;
    case ::llvm::Instruction::GetElementPtr:
      type(cast<::llvm::GetElementPtrInst>(instruction).getSourceElementType());
      break;
    case ::llvm::Instruction::PHI:
      for (const auto* block : cast<::llvm::PHINode>(instruction).blocks()) local(*block);
      break;
    case ::llvm::Instruction::Switch:
      // Case values are operands in some releases and not in others.
      for (const auto& one : cast<::llvm::SwitchInst>(instruction).cases()) {
        constant(*one.getCaseValue());
      }
      break;
    case ::llvm::Instruction::ShuffleVector:
      for (const int lane : cast<::llvm::ShuffleVectorInst>(instruction).getShuffleMask()) {
        out_.word(lane);
      }
      out_.word(~0u - 1);
      break;
    case ::llvm::Instruction::ExtractValue:
      for (const unsigned index : cast<::llvm::ExtractValueInst>(instruction).indices()) {
        out_.word(index);
      }
      out_.word(~0u);
      break;
    case ::llvm::Instruction::InsertValue:
      for (const unsigned index : cast<::llvm::InsertValueInst>(instruction).indices()) {
        out_.word(index);
      }
      out_.word(~0u);
      break;
    case ::llvm::Instruction::LandingPad: {
      const auto& pad = cast<::llvm::LandingPadInst>(instruction);
      out_.word(pad.isCleanup());
      break;
    }
    case ::llvm::Instruction::CatchSwitch:
      out_.word(cast<::llvm::CatchSwitchInst>(instruction).hasUnwindDest());
      break;
    case ::llvm::Instruction::CleanupRet:
      out_.word(cast<::llvm::CleanupReturnInst>(instruction).hasUnwindDest());
      break;
    case ::llvm::Instruction::Call:
    case ::llvm::Instruction::Invoke:
    case ::llvm::Instruction::CallBr: describe_call(cast<::llvm::CallBase>(instruction)); break;
    default: break;
  }
}

void Fingerprint::describe_call(const ::llvm::CallBase& call) {
  const auto* direct = dyn_cast<::llvm::CallInst>(&call);
  out_.word(call.getCallingConv() | (direct ? direct->getTailCallKind() : 0u) << 12 |
            call.getNumOperandBundles() << 16);
  type(call.getFunctionType());
  attributes(call.getAttributes());
  for (unsigned at = 0; at < call.getNumOperandBundles(); ++at) {
    const auto bundle = call.getOperandBundleAt(at);
    out_.word(bundle.getTagID());
    out_.word(bundle.Inputs.size());
  }
  if (const auto* branch = dyn_cast<::llvm::CallBrInst>(&call)) {
    out_.word(branch->getNumIndirectDests());
  }
}

// The order of uses, which one use does not have.
void Fingerprint::describe_uses(const ::llvm::Value& value) {
  if (value.use_empty() || value.hasOneUse()) return;
  for (const auto& use : value.uses()) {
    const auto* user = use.getUser();
    // Only a block has users outside its function, through its address.
    if (isa<::llvm::Instruction>(user)) {
      local(*user);
      out_.word(use.getOperandNo());
    } else {
      out_.word(foreign_user);
    }
  }
  out_.word(end_of_uses);
}

void Fingerprint::operand(const ::llvm::Use& use) {
  const ::llvm::Value* value = use.get();
  if (!value) {
    constant_use(use);
  } else if (isa<::llvm::Instruction, ::llvm::Argument, ::llvm::BasicBlock>(value)) {
    local(*value);
  } else if (const auto* wrapped = dyn_cast<::llvm::MetadataAsValue>(value)) {
    out_.word(metadata_operand);
    metadata(wrapped->getMetadata());
  } else {
    constant_use(use);
  }
}

// Like is_new(), numbers go by first mention, here without a description: the
// definition repeats its number.
void Fingerprint::local(const ::llvm::Value& value) {
  const auto number = locals_.find_or_insert(&value, next_local_);
  next_local_ += number == next_local_;
  out_.word(number * 2);
}

}  // namespace compiler_gym::llvm
