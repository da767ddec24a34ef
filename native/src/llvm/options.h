// LLVM's command-line options. They are global to the process: values set here apply to every
// module.
#pragma once

#include <string>

#include "compiler_gym/llvm/option_values.h"
#include "llvm/Support/CommandLine.h"

namespace compiler_gym::llvm {

// Set an option, like `-name=value`, and return it; its reset() restores the default. Throws
// UnsupportedError if this LLVM has no such option or refuses the value: ignoring that would give
// wrong results that look right.
::llvm::cl::Option* assign_option(const std::string& name, const std::string& value);

// Set an option for the rest of the process. Setting it to its current value does nothing.
void set_option(const std::string& name, const std::string& value);

// While one exists, no other thread has other options: every caller of LLVM holds one. A thread may
// hold several.
class UsualOptions {
 public:
  UsualOptions();
  ~UsualOptions();
  UsualOptions(const UsualOptions&) = delete;
  UsualOptions& operator=(const UsualOptions&) = delete;
};

// While it exists, this thread is the only one that may use LLVM, and may change options. The
// thread's own UsualOptions are released for that time: work further up the stack is suspended
// anyway.
class OptionsAlone {
 public:
  OptionsAlone();
  ~OptionsAlone();
  OptionsAlone(const OptionsAlone&) = delete;
  OptionsAlone& operator=(const OptionsAlone&) = delete;

 private:
  int outer_;
};

// For work that is suspended and resumed, possibly on another thread: return the number of guards
// that this thread holds; acquire `inner` more; and release all but `outer`, returning the number
// released.
int options_held();
void take_options(int inner);
int give_options_back(int outer);

// Options that apply while this exists, for the work of this thread alone: other threads wait.
// Afterwards each option has its former value. Throws PipelineError, and changes nothing, if this
// LLVM has no such option, refuses the value, or the option is set for the whole process.
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
