// The headers and tables of an ELF file for any machine, as columns. LLVM's reader checks every
// offset, so the bytes may come from an untrusted source.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::elf {

// The bytes are not an ELF file, or contradict themselves.
struct BadFile : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct Sections {
  std::vector<std::string> name;
  std::vector<std::uint64_t> kind, flags, address, offset, size, link, alignment;
};

struct Segments {
  std::vector<std::uint64_t> kind, flags, offset, address, size;
};

// The regular symbol table, then the dynamic one. `section` is 0 for undefined symbols. The value
// of a thread-local variable is the address of its initial contents.
struct Symbols {
  std::vector<std::string> name;
  std::vector<std::uint64_t> value, size, section, kind, dynamic;
};

// Relocations that add the load address of the file. The target is the addend in the record; for
// `packed` relocations it is stored at the relocated place.
struct Relocations {
  std::vector<std::uint64_t> place, target, packed;
};

struct File {
  std::uint64_t bits = 0, little = 0, kind = 0, machine = 0, entry = 0;
  std::uint64_t header_size = 0, segments_at = 0, segments_size = 0, sections_at = 0,
                sections_size = 0;
  Sections sections;
  Segments segments;
  Symbols symbols;
  Relocations relocations;
};

// Throws `BadFile`.
File read_file(std::string_view data);

}  // namespace compiler_gym::elf
