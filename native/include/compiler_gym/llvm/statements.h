// IR as the statements of inst2vec's vocabulary, after "Neural Code Comprehension: A Learnable
// Representation of Code Semantics" (Ben-Nun et al., NeurIPS 2018): without names and immediate
// values, with structures written in place, and one statement for each global, function, block and
// instruction.
//
// The vocabulary dates from the time of typed pointers. Types are inferred from the uses of a
// pointer, and are i8* if there are none.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

std::vector<std::string> write_statements(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
