// Objects as links need them: whether they contain IR that still belongs to their machine code, and
// the sections whose order a program can see.

#pragma once

#include <elf.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::driver {

constexpr std::string_view lto_section = ".llvm.lto";  // where --fat-lto-objects looks for IR
constexpr std::string_view digest_section = ".compiler_gym";

struct Section {
  Elf64_Shdr header;
  std::string_view name;
  std::string_view contents;
};

// A relocatable file of 64 bits, little endian. It refers to the data that it was read from.
struct Object {
  Elf64_Ehdr header;
  std::vector<Section> sections;
  size_t names;  // the index of the section with the names of sections

  // Return the section `name`, or null.
  const Section* find(std::string_view name) const;
};

// Return the object in `data`; nothing if it is not one, or is damaged.
std::optional<Object> read_object(std::string_view data);

// Return a digest of the IR and of everything in `object` that a linker uses. It survives the
// removal of debug information and of local symbols. Empty if the object cannot be read.
std::string compute_digest(const Object& object);

struct ObjectFacts {
  bool has_ir = false;
  bool is_edited = false;         // changed after compiler-gym-cc compiled it
  std::set<std::string> ordered;  // sections whose parts a program sees in the order of the link
  size_t addresses = 0;           // pointers in its data
};

ObjectFacts examine(std::string_view data);

}  // namespace compiler_gym::driver
