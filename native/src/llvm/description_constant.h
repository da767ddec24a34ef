// Describes constants and metadata, see description.h.
#pragma once

#include "description.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Operator.h"

namespace compiler_gym::llvm {

#define LLVM_FIXED_MD_KIND(Enum, Name, Value) +1
inline constexpr unsigned fixed_kinds = 0
#include "llvm/IR/FixedMetadataKinds.def"
    ;
#undef LLVM_FIXED_MD_KIND

inline void describe_number(WordStream& out, const ::llvm::APInt& number) {
  out.word(number.getBitWidth());
  for (unsigned at = 0; at < number.getNumWords(); ++at) out.wide(number.getRawData()[at]);
}

inline void describe_range(WordStream& out, const ::llvm::ConstantRange& range) {
  describe_number(out, range.getLower());
  describe_number(out, range.getUpper());
}

template <class Reader>
void Description<Reader>::describe_constant(const ::llvm::Value& value) {
  out_.word(value.getValueID());
  self().type(value.getType());
  if (const auto* number = ::llvm::dyn_cast<::llvm::ConstantInt>(&value)) {
    describe_number(out_, number->getValue());
  } else if (const auto* real = ::llvm::dyn_cast<::llvm::ConstantFP>(&value)) {
    describe_number(out_, real->getValueAPF().bitcastToAPInt());
  } else if (const auto* data = ::llvm::dyn_cast<::llvm::ConstantDataSequential>(&value)) {
    out_.text(data->getRawDataValues());
  } else if (const auto* code = ::llvm::dyn_cast<::llvm::InlineAsm>(&value)) {
    out_.text(code->getAsmString());
    out_.text(code->getConstraintString());
    self().type(code->getFunctionType());
    out_.word(code->hasSideEffects() | code->isAlignStack() << 1 | code->canThrow() << 2 |
              code->getDialect() << 3);
  } else if (const auto* address = ::llvm::dyn_cast<::llvm::BlockAddress>(&value)) {
    self().block_address(*address);
  } else if (const auto* user = ::llvm::dyn_cast<::llvm::User>(&value)) {
    if (const auto* expression = ::llvm::dyn_cast<::llvm::ConstantExpr>(user)) {
      describe_expression(*expression);
    }
    out_.word(user->getNumOperands());
    for (const auto& use : user->operands()) self().constant_use(use);
  }
}

template <class Reader>
void Description<Reader>::describe_expression(const ::llvm::ConstantExpr& expression) {
  out_.word(expression.getOpcode() | expression.getRawSubclassOptionalData() << 8);
  if (const auto* address = ::llvm::dyn_cast<::llvm::GEPOperator>(&expression)) {
    self().type(address->getSourceElementType());
    const auto range = address->getInRange();
    out_.word(range.has_value());
    if (range) describe_range(out_, *range);
  } else if (expression.getOpcode() == ::llvm::Instruction::ShuffleVector) {
    for (const int lane : expression.getShuffleMask()) out_.word(lane);
  }
}

template <class Reader>
void Description<Reader>::describe_metadata(const ::llvm::Metadata& node) {
  out_.word(node.getMetadataID());
  if (const auto* text = ::llvm::dyn_cast<::llvm::MDString>(&node)) {
    out_.text(text->getString());
  } else if (const auto* wrapped = ::llvm::dyn_cast<::llvm::ConstantAsMetadata>(&node)) {
    self().constant(*wrapped->getValue());
  } else if (const auto* tuple = ::llvm::dyn_cast<::llvm::MDTuple>(&node)) {
    out_.word(tuple->isDistinct() | tuple->getNumOperands() << 1);
    for (const auto& one : tuple->operands()) self().metadata(one.get());
  } else {
    has_debug_info_ = true;
  }
}

template <class Reader>
template <class Owner>
void Description<Reader>::attachments(const Owner& owner) {
  ::llvm::SmallVector<std::pair<unsigned, ::llvm::MDNode*>, 4> nodes;
  if constexpr (std::is_same_v<Owner, ::llvm::Instruction>) {
    owner.getAllMetadataOtherThanDebugLoc(nodes);
  } else {
    owner.getAllMetadata(nodes);
  }
  out_.word(nodes.size());
  for (const auto& [kind, node] : nodes) {
    attachment_kind(kind, owner.getContext());
    self().metadata(node);
  }
}

// Kinds that are not built into LLVM are numbered in the order in which a context meets them.
template <class Reader>
void Description<Reader>::attachment_kind(unsigned kind, const ::llvm::LLVMContext& context) {
  if (kind < fixed_kinds) return out_.word(kind);
  ::llvm::SmallVector<::llvm::StringRef, 64> names;
  context.getMDKindNames(names);
  out_.word(~0u);
  out_.text(names[kind]);
}

}  // namespace compiler_gym::llvm
