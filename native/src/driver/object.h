// Objects for links: whether they contain IR that still matches their machine code, and the
// sections whose order a program can observe.

#pragma once

#include <elf.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::driver {

constexpr std::string_view lto_section = ".llvm.lto";  // for the IR of --fat-lto-objects
constexpr std::string_view digest_section = ".compiler_gym";

struct Section {
  Elf64_Shdr header;
  std::string_view name;
  std::string_view contents;
};

// A 64-bit little-endian relocatable file. It refers to the data that it was read from.
struct Object {
  Elf64_Ehdr header;
  std::vector<Section> sections;
  size_t names;  // the index of the section with the names of sections

  // Return the section `name`, or null.
  const Section* find(std::string_view name) const;
};

// Return the object in `data`; nothing if it is not an object, or is damaged.
std::optional<Object> read_object(std::string_view data);

// Return a digest of the IR and of everything in `object` that a linker uses. It survives the
// removal of debug information and of local symbols. Empty if the object cannot be read.
std::string compute_digest(const Object& object);

struct ObjectFacts {
  bool has_ir = false;
  bool is_edited = false;         // changed after compiler-gym-cc compiled it
  std::set<std::string> ordered;  // sections whose parts a program sees in link order
  size_t addresses = 0;           // pointers in the object's data
};

ObjectFacts examine(std::string_view data);

}  // namespace compiler_gym::driver
