// Errors between IR text and machine code. The Python classes are named in
// python/jit/errors.cpp.
#pragma once

#include <stdexcept>
#include <string>

#include "compiler_gym/given_up.h"

namespace compiler_gym::jit {

// The text is not valid LLVM IR.
class InvalidIrError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The IR is for another machine, or for one without a code generator in this build.
class TargetError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The IR was compiled, but a function that it calls or that was requested does not exist.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// LLVM aborted. The module is leaked because it cannot be destroyed safely.
class FatalError : public std::runtime_error, public GivenUp {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace compiler_gym::jit
