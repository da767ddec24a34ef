// The parts of a compiler command that a driver needs: whether the call makes an object or links
// something, and where. The library reads all details after the compiler has run.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::driver {

using Words = std::vector<std::string>;

// Return `words` with response files expanded, as clang and gcc do.
Words expand_response_files(const Words& words);

// Split `text` into words: blanks separate, quotes group, and a backslash escapes one letter.
Words split_words(std::string_view text);

enum class Kind { object, link, other };

struct Call {
  Kind kind = Kind::link;
  std::optional<std::string> output;  // the value of -o
  std::string linker;                 // the value of -fuse-ld= or --ld-path=
  Words inputs;                       // the files that it reads, according to their names
  Words outputs;                      // the files that it may write
  bool is_probe = false;              // a build system tests the compiler, and keeps no output
  bool is_cut_short = false;          // the last option lacks its value
};

// Return the request in the arguments `words` of a compiler.
Call parse_call(const Words& words);

// Return the last component of `path`.
std::string_view base_name(std::string_view path);

}  // namespace compiler_gym::driver
