// The pipeline of a level, whose inliner pauses before each decision about a call.
//
// It pauses at every question and continues with the answer. With LLVM's own choice for every
// answer, the result is that of apply_level(), byte for byte. A process forked during a question
// can continue from there, because the whole state is in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler_gym/llvm/levels.h"
#include "compiler_gym/llvm/module.h"

namespace compiler_gym::llvm {

enum class InlineAnswer { standard, inlined, separate };

// default, inline and no-inline.
std::optional<InlineAnswer> parse_inline_answer(std::string_view name);

// The features that LLVM offers a learned inliner (MLGO), and its own choice as the last.
inline constexpr std::size_t inline_features_size = 39;
using InlineFeatures = std::array<std::int64_t, inline_features_size>;
std::vector<std::string> inline_feature_names();

// The call that a question is about, in the current module.
struct CallSite {
  std::string caller;
  std::string callee;
  std::int64_t number = 0;       // number of earlier questions
  std::int64_t block = 0;        // index among the caller's blocks
  std::int64_t instruction = 0;  // index in that block
  std::string location;          // file:line:column @ inlined-at location; empty if unknown
  std::int64_t arguments = 0;
  std::int64_t caller_blocks = 0;
  std::int64_t caller_instructions = 0;
  std::int64_t callee_blocks = 0;
  std::int64_t callee_instructions = 0;
  std::int64_t callee_calls = 0;  // calls of the callee by name in the whole module
  bool is_callee_local = false;   // the callee is gone with its last call
  bool is_in_loop = false;
};

// One run of a pipeline. The module must outlive it and must not be changed otherwise until it is
// over. After an exception the module is lost, as after one of Module::run().
class Inlining {
 public:
  // Give `module` the attributes of `level` and run its pipeline up to the first question.
  Inlining(Module& module, Level level);
  // A run that is not over is ended, with its remaining work skipped: the module must not be used
  // after that.
  ~Inlining();
  Inlining(const Inlining&) = delete;
  Inlining& operator=(const Inlining&) = delete;

  // Return whether the pipeline has ended, so that there are no more questions.
  bool is_over() const;
  // Answer the question and continue to the next one, or to the end. Throws std::logic_error
  // without a question, and TooLargeError if the module has grown beyond the limit.
  void answer(InlineAnswer answer);
  // Throws std::logic_error without a question.
  CallSite call_site() const;
  InlineFeatures features() const;
  // The decisions so far, one for each question: whether to inline the call.
  const std::vector<bool>& decisions() const;
  // 0, the default, sets no limit.
  void limit_instructions(std::size_t most);

 private:
  struct Run;
  void go_on();

  Module& module_;
  Fragile<Run> run_;
};

}  // namespace compiler_gym::llvm
