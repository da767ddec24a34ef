// The decisions that a rule file takes over from LLVM.
#pragma once

#include <optional>

#include "formulas/formula.h"

namespace compiler_gym::linker {

struct Decisions {
  // The decisions in the file that COMPILER_GYM_SIZE names, if any. An error in the file ends the
  // process with a message.
  static const Decisions& get();

  std::optional<Formula> inline_call;
  std::optional<Formula> order;
  std::optional<Formula> frame;
  std::optional<Formula> outline;
  std::optional<Formula> choose;
};

}  // namespace compiler_gym::linker
