// Says whether a run of passes changed a module, exactly, without reading again what
// no pass touched.
//
// LLVM tells which unit a pass is let into, and afterwards whether it preserved all
// analyses there. That is taken as "changed nothing" from passes that were measured
// to say so only when it is true, and the opposite as "changed something" from passes
// of which that is so (trusted_passes.h). Wherever else a pass was let in, the pieces of
// the module before and after are compared (piece_reader.h): those before were kept from
// earlier runs or are read at the last moment.
//
// Modules with something that pieces do not tell apart, records of debugging above
// all, are compared as wholes where no pass vouches for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler_gym/llvm/hash.h"
#include "compiler_gym/llvm/pass_timing.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/PassInstrumentation.h"
#include "piece_reader.h"
#include "trusted_passes.h"
#include "use_orders.h"

namespace compiler_gym::llvm {

class ChangeDetector {
 public:
  using Whole = std::function<IrHash()>;

  // All must outlive it. `whole` hashes the module as it is when it is called; what is done
  // here is noted in `timing` if there is one.
  ChangeDetector(const ::llvm::Module& module, Whole whole, PassTiming* timing = nullptr);

  void listen_to(::llvm::PassInstrumentationCallbacks& callbacks);

  // Passes run between these two. `is_one_pass` promises that nothing undoes what was done:
  // what differs once differs in the end.
  // With `is_asked` false nothing is read: the answer is then whether a pass may have
  // changed something.
  void begin(bool is_one_pass, bool is_asked = true);
  bool any_claim() const { return any_claim_; }
  bool changed();

  // The module is changed by something that this does not listen to.
  void forget();

  // The number of instructions in the module, counted again only where passes were.
  std::size_t instruction_count();

  // Whether what is kept is true of the module: for measuring whom to trust.
  bool holds();

  // Called after each pass that is no manager of others, with what it said; null for none.
  using Listener = std::function<void(::llvm::StringRef pass, bool vouched)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

 private:
  struct Known {
    Piece piece;
    bool is_known = false;
    // Whether `piece.instructions` holds, which it may do alone.
    bool is_counted = false;
    // The last change at which its neighbours in lists of uses were looked up.
    std::uint64_t change = 0;
  };
  // What the word of a pass is worth.
  struct Word {
    bool is_manager = false;
    Trust trust;
  };

  void before(::llvm::StringRef pass, const ::llvm::Any& unit);
  void after(::llvm::StringRef pass, const ::llvm::Function* function, bool vouched);
  void enter(const ::llvm::Function* function);
  void read_current();
  void read_module();
  void leave();
  void know_symbols();
  void know(const ::llvm::Function& function);
  void refresh(Known& known);
  void take_whole();

  bool differs(const ::llvm::Function& function);
  bool differs_anywhere();
  bool same_crossings(const std::vector<const Piece*>& before,
                      const std::vector<const Piece*>& after, bool is_everything);
  bool same_nodes(const std::vector<const Piece*>& before, const std::vector<const Piece*>& after,
                  bool is_everything);
  bool is_mentioned_elsewhere(const std::vector<const Piece*>& pieces,
                              const ::llvm::DenseSet<const ::llvm::MDNode*>& nodes);
  void conclude();

  Known& known(const ::llvm::Function& function);
  std::size_t count(const ::llvm::Function& function);
  const Word& word_of(::llvm::StringRef pass);

  const ::llvm::Module& module_;
  Whole whole_;
  PassTiming* timing_;
  PieceReader reader_;

  // What is known of the module as it is now, or was when this run began.
  ::llvm::DenseMap<const ::llvm::Function*, std::unique_ptr<Known>> bodies_;
  Known outside_;
  std::optional<WordStream::Digest> symbols_;
  WordStream::Digest symbols_outside_{};
  std::uint64_t changes_ = 0;
  bool is_unusual_ = false;

  // This run.
  bool is_one_pass_ = false;
  bool changed_ = false;
  bool any_claim_ = false;
  bool module_known_ = false;
  bool module_claimed_ = false;
  const ::llvm::Function* current_ = nullptr;
  bool current_claimed_ = false;
  bool current_known_ = false;
  // Whether the pass that is running is not believed, where it is elsewhere.
  bool is_doubted_ = false;
  ::llvm::SmallSetVector<const ::llvm::Function*, 8> claimed_;
  std::vector<const ::llvm::Function*> at_entry_;
  UseOrders orders_;
  std::optional<IrHash> whole_before_;

  ::llvm::DenseMap<const char*, Word> words_;
  Listener listener_;
};

}  // namespace compiler_gym::llvm
