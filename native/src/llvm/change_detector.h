// Detects whether a run of passes changed a module, exactly.
//
// LLVM reports which pass runs, and afterwards whether it preserved all analyses. That report is
// taken as "changed nothing" from passes that were measured to give it only when it is true, and
// the opposite report as "changed something" likewise (trusted_passes.h). If an untrusted pass
// runs, the whole module is hashed before it and at the end.
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
  // Hash the module in its current state.
  using Whole = std::function<IrHash()>;
  // Called after each pass that is not a pass manager, with its report; null for no listener.
  using Listener = std::function<void(::llvm::StringRef pass, bool vouched)>;

  // Both must outlive it. The time spent here is recorded in `timing` if there is one.
  explicit ChangeDetector(Whole whole, PassTiming* timing = nullptr);

  void listen_to(::llvm::PassInstrumentationCallbacks& callbacks);

  // Passes run between these two. `is_one_pass` promises that no change is undone: a difference at
  // any time remains at the end. With `is_asked` false nothing is hashed: the answer is then
  // whether a pass may have changed something.
  void begin(bool is_one_pass, bool is_asked = true, Listener listener = nullptr);
  bool any_claim() const { return any_claim_; }
  bool changed();

 private:
  // The reliability of a pass's report.
  struct Word {
    bool is_manager = false;
    Trust trust;
  };

  void before(::llvm::StringRef pass, const ::llvm::Any& unit);
  void after(::llvm::StringRef pass, bool vouched);
  const Word& word_of(::llvm::StringRef pass);

  Whole whole_;
  PassTiming* timing_;

  // State of the current run.
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
