// Describes the bodies of functions, see description.h.
#pragma once

#include "description.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace compiler_gym::llvm {

// Local numbers are even, shared ones odd, see constant().
inline constexpr std::uint32_t metadata_operand = 0xFFFFFFFE;
inline constexpr std::uint32_t foreign_user = 0xFFFFFFFC;
inline constexpr std::uint32_t end_of_uses = 0xFFFFFFFA;
inline constexpr std::uint32_t start_of_block = 0xFFFFFFF8;

inline unsigned log_alignment(::llvm::Align align) { return ::llvm::Log2(align); }

template <class Access>
std::uint32_t access_word(const Access& access) {
  return log_alignment(access.getAlign()) | access.isVolatile() << 8 |
         static_cast<unsigned>(access.getOrdering()) << 9 | access.getSyncScopeID() << 16;
}

template <class Reader>
void Description<Reader>::describe_body(const ::llvm::Function& function) {
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
}

template <class Reader>
void Description<Reader>::describe_instruction(const ::llvm::Instruction& instruction) {
  ++instruction_count_;
  const bool has_attachments = instruction.hasMetadataOtherThanDebugLoc();
  out_.word(instruction.getOpcode() | instruction.getRawSubclassOptionalData() << 8 |
            has_attachments << 15 | instruction.getNumOperands() << 16);
  local(instruction);
  self().type(instruction.getType());
  for (const auto& use : instruction.operands()) operand(use);
  describe_details(instruction);
  if (has_attachments) attachments(instruction);
  describe_uses(instruction);
  if (instruction.getDebugLoc() || instruction.DebugMarker) has_debug_info_ = true;
}

// The parts of an instruction that operands, type and flags do not determine.
template <class Reader>
void Description<Reader>::describe_details(const ::llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case ::llvm::Instruction::Alloca: {
      const auto& alloca = ::llvm::cast<::llvm::AllocaInst>(instruction);
      self().type(alloca.getAllocatedType());
      out_.word(log_alignment(alloca.getAlign()) | alloca.isUsedWithInAlloca() << 8 |
                alloca.isSwiftError() << 9);
      break;
    }
    case ::llvm::Instruction::Load:
      out_.word(access_word(::llvm::cast<::llvm::LoadInst>(instruction)));
      break;
    case ::llvm::Instruction::Store:
      out_.word(access_word(::llvm::cast<::llvm::StoreInst>(instruction)));
      break;
    case ::llvm::Instruction::Fence: {
      const auto& fence = ::llvm::cast<::llvm::FenceInst>(instruction);
      out_.word(static_cast<unsigned>(fence.getOrdering()) | fence.getSyncScopeID() << 8);
      break;
    }
    case ::llvm::Instruction::AtomicCmpXchg: {
      const auto& exchange = ::llvm::cast<::llvm::AtomicCmpXchgInst>(instruction);
      out_.word(log_alignment(exchange.getAlign()) | exchange.isVolatile() << 8 |
                exchange.isWeak() << 9 |
                static_cast<unsigned>(exchange.getSuccessOrdering()) << 10 |
                static_cast<unsigned>(exchange.getFailureOrdering()) << 14);
      out_.word(exchange.getSyncScopeID());
      break;
    }
    case ::llvm::Instruction::AtomicRMW: {
      const auto& update = ::llvm::cast<::llvm::AtomicRMWInst>(instruction);
      out_.word(access_word(update));
      out_.word(update.getOperation());
      break;
    }
    case ::llvm::Instruction::ICmp:
    case ::llvm::Instruction::FCmp:
      out_.word(::llvm::cast<::llvm::CmpInst>(instruction).getPredicate());
      break;
    case ::llvm::Instruction::GetElementPtr:
      self().type(::llvm::cast<::llvm::GetElementPtrInst>(instruction).getSourceElementType());
      break;
    case ::llvm::Instruction::PHI:
      for (const auto* block : ::llvm::cast<::llvm::PHINode>(instruction).blocks()) local(*block);
      break;
    case ::llvm::Instruction::Switch:
      // Case values are operands in some releases and not in others.
      for (const auto& one : ::llvm::cast<::llvm::SwitchInst>(instruction).cases()) {
        self().constant(*one.getCaseValue());
      }
      break;
    case ::llvm::Instruction::ShuffleVector:
      for (const int lane : ::llvm::cast<::llvm::ShuffleVectorInst>(instruction).getShuffleMask()) {
        out_.word(lane);
      }
      out_.word(~0u - 1);
      break;
    case ::llvm::Instruction::ExtractValue:
      for (const unsigned index : ::llvm::cast<::llvm::ExtractValueInst>(instruction).indices()) {
        out_.word(index);
      }
      out_.word(~0u);
      break;
    case ::llvm::Instruction::InsertValue:
      for (const unsigned index : ::llvm::cast<::llvm::InsertValueInst>(instruction).indices()) {
        out_.word(index);
      }
      out_.word(~0u);
      break;
    case ::llvm::Instruction::LandingPad: {
      const auto& pad = ::llvm::cast<::llvm::LandingPadInst>(instruction);
      out_.word(pad.isCleanup());
      break;
    }
    case ::llvm::Instruction::CatchSwitch:
      out_.word(::llvm::cast<::llvm::CatchSwitchInst>(instruction).hasUnwindDest());
      break;
    case ::llvm::Instruction::CleanupRet:
      out_.word(::llvm::cast<::llvm::CleanupReturnInst>(instruction).hasUnwindDest());
      break;
    case ::llvm::Instruction::Call:
    case ::llvm::Instruction::Invoke:
    case ::llvm::Instruction::CallBr:
      describe_call(::llvm::cast<::llvm::CallBase>(instruction));
      break;
    default: break;
  }
}

template <class Reader>
void Description<Reader>::describe_call(const ::llvm::CallBase& call) {
  const auto* direct = ::llvm::dyn_cast<::llvm::CallInst>(&call);
  out_.word(call.getCallingConv() | (direct ? direct->getTailCallKind() : 0u) << 12 |
            call.getNumOperandBundles() << 16);
  self().type(call.getFunctionType());
  self().attributes(call.getAttributes());
  for (unsigned at = 0; at < call.getNumOperandBundles(); ++at) {
    const auto bundle = call.getOperandBundleAt(at);
    out_.word(bundle.getTagID());
    out_.word(bundle.Inputs.size());
  }
  if (const auto* branch = ::llvm::dyn_cast<::llvm::CallBrInst>(&call)) {
    out_.word(branch->getNumIndirectDests());
  }
}

// The order of uses, which matters if there are several.
template <class Reader>
void Description<Reader>::describe_uses(const ::llvm::Value& value) {
  if (value.use_empty() || value.hasOneUse()) return;
  for (const auto& use : value.uses()) {
    const auto* user = use.getUser();
    // Only a block has users outside its function, through its address.
    if (::llvm::isa<::llvm::Instruction>(user)) {
      local(*user);
      out_.word(use.getOperandNo());
    } else {
      out_.word(foreign_user);
    }
  }
  out_.word(end_of_uses);
}

template <class Reader>
void Description<Reader>::operand(const ::llvm::Use& use) {
  const ::llvm::Value* value = use.get();
  if (!value) {
    self().constant_use(use);
  } else if (::llvm::isa<::llvm::Instruction, ::llvm::Argument, ::llvm::BasicBlock>(value)) {
    local(*value);
  } else if (const auto* wrapped = ::llvm::dyn_cast<::llvm::MetadataAsValue>(value)) {
    out_.word(metadata_operand);
    self().metadata(wrapped->getMetadata());
  } else {
    self().constant_use(use);
  }
}

// Number by first mention, like is_new(), but without a description: the definition repeats its
// number.
template <class Reader>
void Description<Reader>::local(const ::llvm::Value& value) {
  const auto number = locals_.find_or_insert(&value, next_local_);
  next_local_ += number == next_local_;
  out_.word(number * 2);
}

}  // namespace compiler_gym::llvm
