// Machine code of a module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace compiler_gym::llvm {

// The ELF object that `llc -filetype=obj` produces from this bitcode with default
// options (-O2, static relocation). A module without a triple gets code for x86-64. Throws
// UnsupportedError if this build has no code generator for the module's target.
std::string emit_object(std::string_view bitcode);

// The position-independent object for a linker that removes and folds sections: each function and
// variable has its own section, as in lld's link-time optimisation.
std::string emit_object_in_sections(std::string_view bitcode);

// The object of emit_object with a map of its blocks and their estimated frequencies, for
// machine.h. The machine code is the same.
std::string emit_object_with_blocks(std::string_view bitcode);

// The text of the object of emit_object, as `llc -filetype=asm` writes it.
std::string emit_assembly(std::string_view bitcode);

// Set whether inline assembly may read files (.include, .incbin) during code generation. By
// default it may not: such a program then raises a DiagnosticError.
void let_assembly_read_files(bool may);

// The bytes of machine code: the sum of the sections that hold instructions, as
// `llvm-size -A` lists them (.text, .text.unlikely, .text.startup, ...). The "text"
// column of plain `llvm-size` is larger: it adds read-only data and unwind tables.
std::uint64_t count_text_bytes(std::string_view object);

}  // namespace compiler_gym::llvm
