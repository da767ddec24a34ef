// One LLVM module in its own context, changed in place by passes.
//
// Its state is the IR and nothing else: analyses are dropped after every
// pipeline and value names are never kept, so that equal bytes and equal
// pipelines give equal bytes in every process. Not thread safe: one thread at
// a time may use a Module.
//
// Every method may throw FatalError if LLVM aborts. The module is then lost:
// later calls throw FatalError too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler_gym/given_up.h"
#include "compiler_gym/llvm/codegen_options.h"
#include "compiler_gym/llvm/features.h"
#include "compiler_gym/llvm/hash.h"
#include "compiler_gym/llvm/levels.h"
#include "compiler_gym/llvm/option_values.h"
#include "compiler_gym/llvm/pass_record.h"
#include "compiler_gym/llvm/pass_timing.h"

namespace compiler_gym::llvm {

struct WatchedRun {
  bool changed = false;
  // True if the hashes of the whole IR before and after differ.
  bool differs = false;
  // True if the state cached for the next run is correct.
  bool holds = true;
  // The number of visits by pass class, by whether the pass reported that it preserved all
  // analyses, and by whether the hash changed.
  std::map<std::tuple<std::string, bool, bool>, std::size_t> visits;
};

class Module {
 public:
  // Read bitcode (wrapped or not) or textual IR. `name` stands for the input in
  // messages, and as source file name of textual IR that gives none.
  // Throws InitError with LLVM's message.
  explicit Module(std::string_view data, const std::string& name = "");
  ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;

  // Run a textual pass pipeline; return whether the IR changed, which is exact:
  // false means that every bit of the IR is as before. Throws PipelineError when
  // LLVM refuses the text, DiagnosticError when a pass reported errors, and
  // TooLargeError after a change that left more instructions than the limit.
  bool run(const std::string& pipeline);
  // Like `run`, on these functions alone. Throws PipelineError for passes of modules and components
  // of the call graph, and RefusedError if the module has no such function with a body.
  bool run_on(const std::string& pipeline, const std::vector<std::string>& functions);
  // Like `run`, but skips change detection: true means that the IR may have changed.
  bool apply(const std::string& pipeline);
  // Like `run`, with other values of LLVM's command-line options for this pipeline alone. Works
  // like a separate run of `opt`: the changes that a bitcode reader makes to declarations of
  // intrinsics are made before and after it. Throws PipelineError for options that LLVM refuses.
  bool run_with(const std::string& pipeline, const OptionValues& options);
  // 0, the default, sets no limit.
  void limit_instructions(std::size_t most);

  // Like `run`, but slower, and returns a record of the effects.
  PassRecord run_recorded(const std::string& pipeline, const OptionValues& options = {});

  // Like `run`, but slower; compares the result with a check that trusts no pass.
  WatchedRun run_watched(const std::string& pipeline);

  // Turn the timing of `run` on or off; see pass_timing.h.
  void time_passes(bool is_on);
  std::vector<TimedPart> take_times();

  // The bytes that opt would write.
  std::string bitcode();
  // The text that `opt -S` would print, without its first line, which names a file.
  std::string text();
  IrHash hash();
  std::size_t instruction_count();
  // Throws InvalidIrError with the verifier's message.
  void verify();

  // See codegen_options.h.
  ChosenOptions chosen_options();

  // See levels.h.
  void set_goal(Goal goal);
  void apply_level(Level level);
  void apply_linked_level(Level level, const std::vector<std::string>& keep);

  // See whole_program.h.
  std::vector<std::string> internalize(const std::vector<std::string>& keep);

  // See retarget.h.
  bool retarget(const std::string& target);

  // Let `work` change the IR without a pipeline. Throws DiagnosticError as run() does.
  void change(const std::function<void(::llvm::Module&)>& work);

  // See features.h.
  Autophase autophase();
  InstCount inst_count();

  // See codegen.h. A failure there does not lose the module.
  std::string object_code();
  std::string assembly();
  std::uint64_t object_text_size();

  // Let `look` read the IR; it must not change it.
  void inspect(const std::function<void(const ::llvm::Module&)>& look);

  // Let `change` edit the IR; it returns whether it changed the IR.
  bool edit(const std::function<bool(::llvm::Module&)>& change);
  // A number that changes whenever the IR may have changed, so that pointers into it may dangle.
  std::uint64_t version() const;

  std::string triple();
  std::string data_layout();
  std::string source_filename();

 private:
  struct State;
  template <class Work>
  auto with_state(Work&& work);

  Fragile<State> state_;
  std::string lost_because_;
};

}  // namespace compiler_gym::llvm
