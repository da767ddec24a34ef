// Objects that any tool reads and that link-time optimisation can take apart again: machine code,
// and the bitcode of the front end in a section beside it.

#pragma once

#include <string>

namespace compiler_gym::driver {

// Names the section of bitcode in the object at `path` as lld looks for it, and marks it so that no
// other linker keeps it. The bitcode is left out where a program of whole modules would not do what
// the object does; returns why, or an empty text. A file without such a section stays as it is.
std::string finish_object(const std::string& path);

}  // namespace compiler_gym::driver
