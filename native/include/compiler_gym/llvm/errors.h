// Errors of the engine, one type for each kind of cause.
// The Python binding converts each to the corresponding class in
// compiler_gym.errors.
#pragma once

#include <new>
#include <stdexcept>

#include "compiler_gym/given_up.h"

namespace compiler_gym::llvm {

// The bytes are not a module that this LLVM can read.
struct InitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// PassBuilder rejects the pipeline text.
struct PipelineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// LLVM aborted in the middle of its work; the module is lost.
struct FatalError : std::runtime_error, GivenUp {
  using std::runtime_error::runtime_error;
};

// Like FatalError, but memory ran out.
struct OutOfMemory : std::bad_alloc, GivenUp {};

// LLVM finished its work and reported errors about the program.
struct DiagnosticError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The verifier rejects the module.
struct InvalidIrError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A pipeline made the module larger than its limit.
struct TooLargeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The operation is not supported for this module, such as code for an unsupported target.
struct UnsupportedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A shared library that cannot add passes to this LLVM.
struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The decision point does not exist, or cannot get this mark.
struct RefusedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace compiler_gym::llvm
