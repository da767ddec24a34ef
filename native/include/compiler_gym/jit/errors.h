// What can go wrong between a text and machine code. Python's classes are named in
// python/jit/errors.cpp.
#pragma once

#include <stdexcept>
#include <string>

#include "compiler_gym/given_up.h"

namespace compiler_gym::jit {

// The text is no LLVM IR, or IR that does not verify.
class InvalidIrError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// It is for another machine, or names a machine that there is no code generator for.
class TargetError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// It was compiled, but a function that it calls or that was asked for does not exist.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// LLVM gave up. What was being compiled is leaked, since it is in no state to be destroyed.
class FatalError : public std::runtime_error, public GivenUp {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace compiler_gym::jit
