// What can go wrong in the engine, one type per answer to "whom do I ask?".
// The Python binding turns each into the class of the same meaning in
// compiler_gym.errors.
#pragma once

#include <new>
#include <stdexcept>

#include "compiler_gym/given_up.h"

namespace compiler_gym::llvm {

// The bytes given are not a module this LLVM can hold.
struct InitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// PassBuilder refuses the pipeline text.
struct PipelineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// LLVM gave up in the middle of its work; the module is lost.
struct FatalError : std::runtime_error, GivenUp {
  using std::runtime_error::runtime_error;
};

// The same where it found no memory.
struct OutOfMemory : std::bad_alloc, GivenUp {};

// LLVM finished its work and reported errors about the program.
struct DiagnosticError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The verifier refuses the module.
struct InvalidIrError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A pipeline made the module larger than its limit.
struct TooLargeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The question has no answer for this module, such as code for a foreign target.
struct UnsupportedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A shared library that cannot add passes to this LLVM.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is to be marked is not there, or cannot be marked so.
struct RefusedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace compiler_gym::llvm
