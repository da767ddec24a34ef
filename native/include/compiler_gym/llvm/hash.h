// A fingerprint of everything that the bitcode of a module holds: symbols,
// types, attributes, constants, metadata, instructions and the order of use
// lists. Two modules have equal hashes exactly when opt would write the same
// bitcode for both.
//
// It excludes the tables of names that bitcode copies from the context (kinds
// of metadata, scopes, bundle tags): a pass can add to them without touching
// the IR. For programs with debug information, the bytes are hashed, tables
// included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

class Fingerprint;

using IrHash = std::array<std::uint8_t, 16>;

// It keeps its tables between calls, so it can be used only for modules of one context.
class Hasher {
 public:
  Hasher();
  ~Hasher();

  IrHash operator()(const ::llvm::Module& module);
  // The number of instructions of the module that was hashed last.
  std::size_t instruction_count() const;

 private:
  std::unique_ptr<Fingerprint> fingerprint_;
};

}  // namespace compiler_gym::llvm
