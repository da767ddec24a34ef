#include "compiler_gym/llvm/hash.h"

#include <bit>

#include "fingerprint.h"

namespace compiler_gym::llvm {

Hasher::Hasher() : fingerprint_(std::make_unique<Fingerprint>()) {}
Hasher::~Hasher() = default;

IrHash Hasher::operator()(const ::llvm::Module& module) {
  return std::bit_cast<IrHash>(fingerprint_->of(module));
}

std::size_t Hasher::instruction_count() const { return fingerprint_->instruction_count(); }

}  // namespace compiler_gym::llvm
