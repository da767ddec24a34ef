// Says whether a run of passes changed a module, exactly.
//
// LLVM tells which pass runs, and afterwards whether it preserved all analyses. That is taken as
// "changed nothing" from passes that were measured to say so only when it is true, and the opposite
// as "changed something" from passes of which that is so (trusted_passes.h). Where a pass that is
// not believed ran, all of the module is hashed before it and in the end.
#pragma once

#include <functional>
#include <optional>

#include "compiler_gym/llvm/hash.h"
#include "compiler_gym/llvm/pass_timing.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/PassInstrumentation.h"
#include "trusted_passes.h"

namespace compiler_gym::llvm {

class ChangeDetector {
 public:
  // Hashes the module as it is when it is called.
  using Whole = std::function<IrHash()>;
  // Called after each pass that is not a pass manager, with its report; null for none.
  using Listener = std::function<void(::llvm::StringRef pass, bool vouched)>;

  // All must outlive it. What is done here is noted in `timing` if there is one.
  explicit ChangeDetector(Whole whole, PassTiming* timing = nullptr);

  void listen_to(::llvm::PassInstrumentationCallbacks& callbacks);

  // Passes run between these two. `is_one_pass` promises that nothing undoes what was done:
  // what differs once differs in the end.
  // With `is_asked` false nothing is hashed: the answer is then whether a pass may have
  // changed something.
  void begin(bool is_one_pass, bool is_asked = true, Listener listener = nullptr);
  bool any_claim() const { return any_claim_; }
  bool changed();

 private:
  // What the word of a pass is worth.
  struct Word {
    bool is_manager = false;
    Trust trust;
  };

  void before(::llvm::StringRef pass, const ::llvm::Any& unit);
  void after(::llvm::StringRef pass, bool vouched);
  const Word& word_of(::llvm::StringRef pass);

  Whole whole_;
  PassTiming* timing_;

  // This run.
  bool is_one_pass_ = false;
  bool changed_ = false;
  bool any_claim_ = false;
  // True while a pass that is usually trusted is not trusted here.
  bool is_doubted_ = false;
  std::optional<IrHash> before_;
  Listener listener_;

  ::llvm::DenseMap<const char*, Word> words_;
};

}  // namespace compiler_gym::llvm
