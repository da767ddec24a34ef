// The arguments of a linker, read to decide which options can be added. A misread argument costs
// bytes but never correctness: the arguments themselves reach lld unchanged.

#pragma once

#include <set>
#include <string>

#include "words.h"

namespace compiler_gym::driver {

struct LinkCall {
  std::string output = "a.out";
  Words files;                    // objects, archives and scripts, including those of -l
  Words scripts;                  // those of -T
  Words folders;                  // those of -L
  Words libraries;                // the names after -l
  std::set<std::string> options;  // names of LLVM options that the user sets
  Words silent;                   // options that prevent a second link from writing the same files
  std::string emulation;
  std::string unusual;           // an option that rules out every plan
  bool is_comparable = true;     // false if a second link would write files a second time
  bool is_dynamic = false;       // position-independent, and loaded by a dynamic linker
  bool decides_packing = false;  // the user decides how relocations are stored
  int rust_level = -1;           // the level that rustc passes to the linker
};

// Read the arguments of a linker, without its name.
LinkCall read_arguments(const Words& arguments);

}  // namespace compiler_gym::driver
