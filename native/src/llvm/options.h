// LLVM's command-line options. A process has them once: what is set here holds for every module.
#pragma once

#include <string>

#include "compiler_gym/llvm/option_values.h"

namespace compiler_gym::llvm {

// Gives an option its value, as `-name=value` does. To give it the value it has does nothing.
// Throws UnsupportedError where this LLVM has no such option or refuses the value: what would
// follow from a question that LLVM did not hear is wrong and looks right.
void set_option(const std::string& name, const std::string& value);

// While one lives, no other thread has other options: whatever runs LLVM holds one. A thread may
// hold several.
class UsualOptions {
 public:
  UsualOptions();
  ~UsualOptions();
  UsualOptions(const UsualOptions&) = delete;
  UsualOptions& operator=(const UsualOptions&) = delete;
};

// Options that hold as long as this lives, for this thread's work alone: others wait. Afterwards
// each is what it was before. Throws PipelineError, and leaves all as it was, where this LLVM has
// no such option, refuses the value or has it set for good, or where this thread is at work.
class OtherOptions {
 public:
  explicit OtherOptions(const OptionValues& values);
  ~OtherOptions();
  OtherOptions(const OtherOptions&) = delete;
  OtherOptions& operator=(const OtherOptions&) = delete;

 private:
  void set(const std::string& name, const std::string& value);
  void restore();

  std::vector<std::string> set_;
};

}  // namespace compiler_gym::llvm
