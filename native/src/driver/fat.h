// Completes the objects that clang writes with -ffat-lto-objects: machine code for every tool, and
// IR for link-time optimisation.

#pragma once

#include <string>

namespace compiler_gym::driver {

struct Finished {
  std::string why_native;  // the reason why the IR was removed, if it was
  std::string error;       // the reason why the object could not be completed
};

// Add a digest to the object `path`, with which a later link detects edits. Remove the IR if a
// program optimised as a whole might behave differently from the object. Other files, and objects
// without IR, stay unchanged.
Finished finish_object(const std::string& path);

}  // namespace compiler_gym::driver
