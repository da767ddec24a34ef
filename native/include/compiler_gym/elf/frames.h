// The entries of `.eh_frame`, which unwinders read, and the landing pads of exceptions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace compiler_gym::elf {

// A loaded section: its bytes, and its address.
struct Loaded {
  std::string_view data;
  std::uint64_t address = 0;
};

struct Layout {
  bool is_little = true;
  std::uint8_t address_size = 8;
};

// One row for each function that has an entry.
struct Frames {
  std::vector<std::uint64_t> offset, size;  // in the section, with the length before it
  std::vector<std::uint64_t> function, function_size;
  std::vector<std::uint64_t> saved;    // registers
  std::vector<std::uint64_t> tables;   // the address of its exception table, or 0
  std::vector<std::uint64_t> landing;  // the lowest landing pad, or 0
};

// Stops at the first entry that cannot be read.
Frames read_frames(Loaded frames, Loaded tables, Layout layout);

}  // namespace compiler_gym::elf
