// The parts of a compiler command that a driver needs: whether the call makes an object or
// links something, and where. Everything finer is read by the library, after the compiler has run.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::driver {

using Words = std::vector<std::string>;

// Returns `words` with those of response files in their places, as clang and gcc read them.
Words expanded(const Words& words);

// Returns the words of `text`: blanks divide, quotes hold together, and a backslash takes one
// letter.
Words words_in(std::string_view text);

enum class Kind { object, link, other };

struct Call {
  Kind kind = Kind::link;
  std::optional<std::string> output;  // what -o says
  std::string linker;                 // what -fuse-ld= or --ld-path= says
  Words inputs;                       // what it reads, as far as names say
  Words outputs;                      // the files that it may make
  bool is_question = false;           // a build system tests the compiler, and keeps nothing
  bool is_cut_short = false;          // the last option lacks its value
};

// Returns what the arguments `words` of a compiler ask for.
Call call_of(const Words& words);

// Returns the last part of `path`.
std::string_view base_name(std::string_view path);

}  // namespace compiler_gym::driver
