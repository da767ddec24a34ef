// Read from an object the number of bytes that each function adds to a program.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <cstdint>
#include <optional>

namespace compiler_gym::elf {

// The code of each function, its entry in the unwind table, its exception table and its jump
// tables. Nothing if the object cannot be read. Functions that share a section are left out.
std::optional<llvm::StringMap<std::uint64_t>> read_function_bytes(llvm::MemoryBufferRef object);

}  // namespace compiler_gym::elf
