// The spelling of types when pointers had pointee types.
#pragma once

#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

namespace compiler_gym::llvm {

class TypedPointers {
 public:
  // The text of a type if nothing is known about its pointers.
  std::string text(const ::llvm::Type& type);

  // The type of a value; for a pointer, inferred from its origin or its uses.
  std::string type_of(const ::llvm::Value& value);

 private:
  std::string pointee(const ::llvm::Value& value);
  std::string from_origin(const ::llvm::Value& value);
  std::string from_uses(const ::llvm::Value& value);
  std::string content_of(const ::llvm::Value& pointer, const ::llvm::Type& type);
  std::string function_text(const ::llvm::FunctionType& type);
  std::string structure_text(const ::llvm::StructType& type);

  ::llvm::DenseMap<const ::llvm::Value*, std::string> known_;
  ::llvm::DenseMap<const ::llvm::Type*, std::string> types_;
  int depth_ = 0;
};

}  // namespace compiler_gym::llvm
