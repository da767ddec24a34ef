// The compile units of an ELF file with debug information, and the addresses of their code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::elf {

// One row for each range of addresses.
struct Units {
  std::vector<std::string> name;    // of the source file
  std::vector<std::uint64_t> unit;  // an index into `name`
  std::vector<std::uint64_t> low, high;
};

// Skips units that cannot be read, and units in object files, which have no addresses yet. Throws
// `BadFile` if the file is not ELF.
Units read_units(std::string_view data);

}  // namespace compiler_gym::elf
