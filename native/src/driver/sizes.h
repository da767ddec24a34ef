// The sizes of a linked file.

#pragma once

#include <cstdint>
#include <string>

namespace compiler_gym::driver {

struct Sizes {
  std::uint64_t loaded = 0;      // bytes of the segments that a loader maps; 0 if it is not ELF
  std::uint64_t strippable = 0;  // bytes of symbols and debug information
};

Sizes measure(const std::string& path);

}  // namespace compiler_gym::driver
