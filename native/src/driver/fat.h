// Completes the objects that clang writes with -ffat-lto-objects: machine code for every tool, and
// IR beside it for link-time optimisation.

#pragma once

#include <string>

namespace compiler_gym::driver {

struct Finished {
  std::string why_native;  // the reason why the IR was left out, if it was
  std::string error;       // the reason why the object could not be completed
};

// Add a digest to the object `path`, by which a later link notices that it was edited. The IR is
// left out if a program optimised as a whole might not do what the object does. Another file, and
// an object without IR, stay as they are.
Finished finish_object(const std::string& path);

}  // namespace compiler_gym::driver
