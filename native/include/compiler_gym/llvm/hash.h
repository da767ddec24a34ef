// A fingerprint of everything that the bitcode of a module holds.
#pragma once

#include <array>
#include <cstdint>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

using IrHash = std::array<std::uint8_t, 16>;

IrHash hash_of(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
