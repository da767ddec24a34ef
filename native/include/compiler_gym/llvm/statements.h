// IR as the statements that inst2vec's vocabulary is made of, after "Neural Code
// Comprehension: A Learnable Representation of Code Semantics" (Ben-Nun et al.,
// NeurIPS 2018): names and immediate values are left out, structures written in
// place, one statement for each global, function, block and instruction.
//
// The vocabulary comes from a time when pointers had types. They are guessed from
// what is done with a pointer, and are i8* where nothing tells.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

std::vector<std::string> statements_of(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
