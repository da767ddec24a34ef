// Walks a module in the order of its bitcode and describes it to a WordStream.
//
// Each object gets the next number and a description when it is first met; later only its number is
// written. Nothing depends on addresses, so equal IR gives equal words in every process.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "description.h"
#include "flat_table.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "word_stream.h"

namespace compiler_gym::llvm {

class Fingerprint : private Description<Fingerprint> {
 public:
  WordStream::Digest of(const ::llvm::Module& module);
  // The attributes and the body of a function, in which symbols are known by their names. Debug
  // information and the order of the uses of constants are left out.
  WordStream::Digest of(const ::llvm::Function& function);
  // The number of instructions in the last module: the walk visits them anyway.
  std::size_t instruction_count() const { return instruction_count_; }

 private:
  friend Description<Fingerprint>;
  using Description<Fingerprint>::attachments;

  void reset();
  void describe(const ::llvm::Module& module);
  void describe_uses_of_constants();
  bool is_new(const void* key);
  WordStream::Digest digest_of_type(const ::llvm::Type* type);
  WordStream::Digest digest_of_attributes(::llvm::AttributeList list);

  // See description.h.
  void type(const ::llvm::Type* type);
  void attributes(::llvm::AttributeList list);
  void constant(const ::llvm::Value& value);
  void constant_use(const ::llvm::Use& use);
  void metadata(const ::llvm::Metadata* node);
  void block_address(const ::llvm::BlockAddress& address);
  void outer_use(const ::llvm::Use& use) { constant_use(use); }
  void outer_attachments(const ::llvm::GlobalObject& object) { attachments(object); }

  // Numbers of objects that the whole module shares.
  FlatTable shared_;
  std::uint32_t next_shared_ = 0;
  ::llvm::DenseMap<const ::llvm::Function*, std::uint32_t> expected_locals_;
  // The order of use lists is part of bitcode and steers some passes. A use of a
  // constant is known by the position at which the walk met it.
  FlatTable uses_;
  std::uint32_t next_use_ = 0;
  std::vector<const ::llvm::Value*> used_constants_;
  std::vector<std::uint32_t> positions_;
  // Types and attribute lists live as long as their context and never change.
  ::llvm::DenseMap<const void*, WordStream::Digest> lasting_;
  // A few types are used repeatedly: a cache of their numbers.
  std::array<std::pair<const ::llvm::Type*, std::uint32_t>, 64> recent_types_{};
};

}  // namespace compiler_gym::llvm
