// Describes a module, part by part, to a WordStream.
//
// The contents of a function are numbered by first mention. Objects that functions share are named
// by `Reader`, which derives from this (fingerprint.h). It has
//
//   type(const Type*), attributes(AttributeList), constant(const Value&),
//   constant_use(const Use&), metadata(const Metadata*), block_address(const BlockAddress&)
//   and outer_use(const Use&), outer_attachments(const GlobalObject&) of symbols.
#pragma once

#include <cstdint>
#include <optional>

#include "flat_table.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "word_stream.h"

namespace compiler_gym::llvm {

template <class Reader>
class Description {
 protected:
  // description_symbol.h: symbols, without bodies
  void describe_symbol(const ::llvm::GlobalValue& symbol);
  void describe_object(const ::llvm::GlobalObject& object, ::llvm::MaybeAlign alignment);
  void describe_variable(const ::llvm::GlobalVariable& variable);
  void describe_function(const ::llvm::Function& function);

  // description_function.h: bodies
  void describe_body(const ::llvm::Function& function);
  void describe_instruction(const ::llvm::Instruction& instruction);
  void describe_details(const ::llvm::Instruction& instruction);
  void describe_call(const ::llvm::CallBase& call);
  void describe_uses(const ::llvm::Value& value);
  void operand(const ::llvm::Use& use);
  void local(const ::llvm::Value& value);

  // description_constant.h: constants and metadata
  void describe_constant(const ::llvm::Value& value);
  void describe_expression(const ::llvm::ConstantExpr& expression);
  void describe_metadata(const ::llvm::Metadata& node);
  template <class Owner>
  void attachments(const Owner& owner);
  void attachment_kind(unsigned kind, const ::llvm::LLVMContext& context);

  WordStream out_;
  FlatTable locals_;
  std::uint32_t next_local_ = 0;
  std::size_t instruction_count_ = 0;
  bool has_debug_info_ = false;

 private:
  Reader& self() { return static_cast<Reader&>(*this); }
};

}  // namespace compiler_gym::llvm
