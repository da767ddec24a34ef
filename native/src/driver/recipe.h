// The library's answer about a recipe or a policy: the options that a driver adds to the compiler's
// command and to the linker's. The library runs once for each state of its files.

#pragma once

#include <optional>
#include <string>

#include "words.h"

namespace compiler_gym::driver {

// The user's request.
struct Request {
  std::string verb;  // "cc" or "cxx"
  std::string kind;  // "recipe" or "policy"
  std::string name;
  Words own;  // options such as --no-plugin

  bool has(std::string_view option) const;
  std::string label() const { return "--" + kind + ' ' + name; }
};

// The option that names a folder with the same programs, built with the user's own options.
constexpr std::string_view baseline_option = "--baseline=";

// Ends a word in the files of the cache.
constexpr char word_end = '\0';

// The options of `kind` that come before the compiler's.
bool is_own_option(std::string_view word);

struct Recipe {
  Words clang;      // the compiler's command
  Words linker;     // the path of ld.lld, or nothing if there is none
  Words set_apart;  // prefixes of options that need the compiler alone; whole options end in $
  Words compile;    // options for the compiler
  Words front;      // options before the linker's, so that the user's win
  Words options;    // NAME=VALUE of LLVM, for code generation in the linker
  Words passes;     // the linker's option for its passes, for objects of clang and of rustc
  Words plugin;     // the path of the size plug-in and its settings, or nothing
  Words problem;    // the reason why it cannot be loaded, or nothing
  Words flags;      // "pack": pack relocations
};

// Return the recipe; nothing if the library refuses it, with the library's message and exit status.
std::optional<Recipe> find_recipe(const Request& request, const std::string& self, int& status);

// Return the lists in `text`, each terminated by an empty word; none if the last has no terminator.
std::vector<Words> split_lists(std::string_view text);

// Return the contents of the file `path` if it belongs to the user.
std::optional<std::string> read_own(const std::string& path);

// Return the values of the variables that choose a compiler.
std::string which_compiler();

// Return the library's command: the one next to the driver `self`, or the one on PATH.
std::string library(const std::string& self);

}  // namespace compiler_gym::driver
