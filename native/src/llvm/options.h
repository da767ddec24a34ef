// LLVM's command-line options. They are global to the process: values set here apply to every
// module.
#pragma once

#include <string>

#include "compiler_gym/llvm/option_values.h"
#include "llvm/Support/CommandLine.h"

namespace compiler_gym::llvm {

// Gives an option its value, as `-name=value` does, and returns the option, whose reset() takes
// it back. Throws UnsupportedError where this LLVM has no such option or refuses the value: what
// would follow from a question that LLVM did not hear is wrong and looks right.
::llvm::cl::Option* assign_option(const std::string& name, const std::string& value);

// The same for as long as the process lives. To give an option the value it has does nothing.
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

// While it lives this thread has LLVM to itself, and may give options other values. What it held
// before is given back for that long: work that is in its middle further up the stack waits.
class OptionsAlone {
 public:
  OptionsAlone();
  ~OptionsAlone();
  OptionsAlone(const OptionsAlone&) = delete;
  OptionsAlone& operator=(const OptionsAlone&) = delete;

 private:
  int outer_;
};

// For work that stops in its middle and is gone on with later, on whatever thread: how much this
// thread holds; to hold `inner` more; and to hold `outer` again, returning what was more.
int options_held();
void take_options(int inner);
int give_options_back(int outer);

// Options that hold as long as this lives, for this thread's work alone: others wait. Afterwards
// each is what it was before. Throws PipelineError, and leaves all as it was, where this LLVM has
// no such option, refuses the value or has it set for good.
class OtherOptions {
 public:
  explicit OtherOptions(const OptionValues& values);
  ~OtherOptions();
  OtherOptions(const OtherOptions&) = delete;
  OtherOptions& operator=(const OtherOptions&) = delete;

 private:
  void set(const std::string& name, const std::string& value);
  void restore();

  OptionsAlone alone_;
  std::vector<std::string> set_;
};

}  // namespace compiler_gym::llvm
