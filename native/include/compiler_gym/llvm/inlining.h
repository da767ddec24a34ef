// The pipeline of a level, whose inliner asks about each call before it decides.
//
// It stops at every question and goes on with the answer. With LLVM's own choice for every answer
// the module becomes what apply_level() makes of it, byte for byte. A copy of the process made
// while a question is open goes on from there: all that is under way is memory.
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
std::optional<InlineAnswer> inline_answer_named(std::string_view name);

// The features that LLVM offers a learned inliner (MLGO), and its own choice as the last.
inline constexpr std::size_t inline_features_size = 39;
using InlineFeatures = std::array<std::int64_t, inline_features_size>;
std::vector<std::string> inline_feature_names();

// The call that a question is about, as the module stands.
struct CallSite {
  std::string caller;
  std::string callee;
  std::int64_t number = 0;       // how many questions came before
  std::int64_t block = 0;        // its place among the caller's blocks
  std::int64_t instruction = 0;  // its place in that block
  std::string location;          // file:line:column @ where that was inlined; empty without any
  std::int64_t arguments = 0;
  std::int64_t caller_blocks = 0;
  std::int64_t caller_instructions = 0;
  std::int64_t callee_blocks = 0;
  std::int64_t callee_instructions = 0;
  std::int64_t callee_calls = 0;  // calls of the callee by name in the whole module
  bool is_callee_local = false;   // the callee is gone with its last call
  bool is_in_loop = false;
};

// One run of a pipeline. The module has to outlive it, and nobody else may change the module until
// it is over. After an exception the module is lost, as after one of Module::run().
class Inlining {
 public:
  // Give `module` the attributes of `level` and run its pipeline up to the first question.
  Inlining(Module& module, Level level);
  // A run that is not over is brought to its end with nothing done on the way: the module is what
  // nobody should look at any more.
  ~Inlining();
  Inlining(const Inlining&) = delete;
  Inlining& operator=(const Inlining&) = delete;

  // Whether the pipeline has come to its end: there is no question any more.
  bool is_over() const;
  // Answer the question and go on to the next, or to the end. Throws std::logic_error without a
  // question, and TooLargeError when the module has outgrown the limit.
  void answer(InlineAnswer answer);
  // Throws std::logic_error without a question.
  CallSite call_site() const;
  InlineFeatures features() const;
  // What was decided at each question so far: whether the call was to be inlined.
  const std::vector<bool>& decisions() const;
  // 0 sets no limit, as at the start.
  void limit_instructions(std::size_t most);

 private:
  struct Run;
  void go_on();

  Module& module_;
  Fragile<Run> run_;
};

}  // namespace compiler_gym::llvm
