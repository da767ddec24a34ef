#include "change_detector.h"

#include <algorithm>

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "trusted_passes.h"

namespace compiler_gym::llvm {

namespace {

using Pieces = std::vector<const Piece*>;

// The function that a unit lies in; none for modules and components of the call graph.
const ::llvm::Function* function_of(const ::llvm::Any& unit) {
  if (const auto* held = ::llvm::any_cast<const ::llvm::Function*>(&unit)) return *held;
  if (const auto* loop = ::llvm::any_cast<const ::llvm::Loop*>(&unit)) {
    return (*loop)->getHeader()->getParent();
  }
  return nullptr;
}

bool is_all_reachable(const ::llvm::Function& function) {
  ::llvm::df_iterator_default_set<const ::llvm::BasicBlock*, 32> reached;
  for (const auto* block : ::llvm::depth_first_ext(&function, reached)) (void)block;
  return reached.size() == function.size();
}

std::size_t count_in(const ::llvm::Function& function) {
  std::size_t count = 0;
  for (const auto& block : function) count += block.size();
  return count;
}

// They run other passes, of which each is heard of, and do nothing themselves.
bool is_manager(::llvm::StringRef pass) {
  return pass.starts_with("PassManager<") || pass.ends_with("PassAdaptor") ||
         pass.starts_with("RepeatedPass<") || pass.starts_with("RequireAnalysisPass<") ||
         pass.starts_with("InvalidateAnalysisPass<") || pass == "InvalidateAllAnalysesPass" ||
         pass == "DevirtSCCRepeatedPass" || pass == "ModuleInlinerWrapperPass" ||
         pass == "VerifierPass";
}

// Numbers by first mention, over several pieces.
template <class Key>
std::vector<std::uint32_t> numbers_of(const Pieces& pieces, std::vector<Key> Piece::* keys,
                                      ::llvm::DenseMap<Key, std::uint32_t>& numbers) {
  std::vector<std::uint32_t> found;
  for (const auto* piece : pieces) {
    for (const auto key : piece->*keys) {
      found.push_back(numbers.try_emplace(key, numbers.size()).first->second);
    }
  }
  return found;
}

bool same_addresses(const Piece& then, const Piece& now) {
  return then.uses == now.uses && then.next_uses == now.next_uses && then.nodes == now.nodes;
}

// What follows each use: the number of a use of these pieces, or one of others, which no pass
// moved, by its address.
std::vector<std::pair<std::uint32_t, const ::llvm::Use*>> followers(const Pieces& pieces) {
  ::llvm::DenseMap<const ::llvm::Use*, std::uint32_t> numbers;
  const auto own = numbers_of(pieces, &Piece::uses, numbers);
  std::vector<std::pair<std::uint32_t, const ::llvm::Use*>> found;
  for (const auto number : own) found.emplace_back(number, nullptr);
  for (const auto* piece : pieces) {
    for (const auto* next : piece->next_uses) {
      const auto at = numbers.find(next);
      if (at == numbers.end()) {
        found.emplace_back(~0u, next);
      } else {
        found.emplace_back(at->second, nullptr);
      }
    }
  }
  return found;
}

}  // namespace

ChangeDetector::ChangeDetector(const ::llvm::Module& module, Whole whole, PassTiming* timing)
    : module_(module), whole_(std::move(whole)), timing_(timing) {}

void ChangeDetector::listen_to(::llvm::PassInstrumentationCallbacks& callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback(
      [this](::llvm::StringRef pass, ::llvm::Any unit) { before(pass, unit); });
  callbacks.registerAfterPassCallback(
      [this](::llvm::StringRef pass, ::llvm::Any unit, const ::llvm::PreservedAnalyses& preserved) {
        after(pass, function_of(unit), preserved.areAllPreserved());
      });
  // The unit is gone: a loop of the function that is being visited, or more.
  callbacks.registerAfterPassInvalidatedCallback(
      [this](::llvm::StringRef pass, const ::llvm::PreservedAnalyses&) {
        after(pass, current_, /*vouched=*/false);
      });
}

void ChangeDetector::begin(bool is_one_pass, bool is_asked) {
  conclude();
  is_one_pass_ = is_one_pass;
  changed_ = !is_asked;
}

bool ChangeDetector::changed() {
  const Timed timed(timing_, PartKind::detection, "compare");
  leave();
  if (is_unusual_ && any_claim_ && !changed_) {
    changed_ = whole_() != *whole_before_;
  } else if (any_claim_ && !changed_) {
    changed_ = differs_anywhere();
  }
  const bool result = changed_ && any_claim_;
  conclude();
  return result;
}

void ChangeDetector::forget() {
  conclude();
  bodies_.clear();
  outside_ = {};
  symbols_.reset();
  is_unusual_ = false;
}

std::size_t ChangeDetector::instruction_count() {
  std::size_t sum = 0;
  for (const auto& function : module_) {
    if (!function.isDeclaration()) sum += count(function);
  }
  return sum;
}

bool ChangeDetector::holds() {
  bool all = !symbols_ || reader_.symbols(module_) == *symbols_;
  const auto check = [&](Known& known, const Piece& now) {
    if (!known.is_known) return;
    refresh(known);
    all &= now.content == known.piece.content &&
           same_crossings({&known.piece}, {&now}, /*is_everything=*/true);
  };
  if (reader_.symbols(module_) == symbols_outside_) {
    Piece outside;
    reader_.read_outside(module_, outside);
    check(outside_, outside);
  }
  for (const auto& function : module_) {
    if (function.isDeclaration()) continue;
    Piece body;
    reader_.read_body(function, body);
    check(known(function), body);
  }
  return all;
}

// -- what passes say ------------------------------------------------------------------------------

void ChangeDetector::before(::llvm::StringRef pass, const ::llvm::Any& unit) {
  const Word& word = word_of(pass);
  if (word.is_manager) return;
  const Timed timed(timing_, PartKind::detection, "read before passes");
  const auto* function = function_of(unit);
  if (function != current_ || !function) enter(function);
  is_doubted_ = word.trust.only_where_reachable && !(function && is_all_reachable(*function));
  // What is not read now cannot be compared: that takes the word of the pass.
  const bool is_believed = word.trust.nothing && word.trust.something && !is_doubted_;
  if (changed_ || module_known_ || (is_believed && is_one_pass_)) return;
  // Of several passes, one may move uses among functions that another is yet to read.
  if (function && is_one_pass_) {
    read_current();
  } else {
    read_module();
  }
}

void ChangeDetector::after(::llvm::StringRef pass, const ::llvm::Function* function, bool vouched) {
  const Word& word = word_of(pass);
  if (word.is_manager) return;
  if (listener_) listener_(pass, vouched);
  const bool is_doubted = std::exchange(is_doubted_, false);
  if (vouched && word.trust.nothing && !is_doubted) return;
  any_claim_ = true;
  changed_ |= word.trust.something && is_one_pass_ && !vouched;
  if (!function) {
    module_claimed_ = true;
  } else if (function == current_) {
    current_claimed_ = true;
  } else {
    claimed_.insert(function);
    is_one_pass_ = false;
  }
}

void ChangeDetector::enter(const ::llvm::Function* function) {
  leave();
  current_ = function;
}

void ChangeDetector::read_current() {
  if (std::exchange(current_known_, true)) return;
  if (is_unusual_) return take_whole();
  know_symbols();
  know(*current_);
  if (reader_.met_the_unusual()) take_whole();
}

void ChangeDetector::read_module() {
  module_known_ = true;
  if (is_unusual_) return take_whole();
  know_symbols();
  // Passes on functions add symbols too, tables and declarations.
  if (!outside_.is_known || *symbols_ != symbols_outside_) {
    reader_.read_outside(module_, outside_.piece);
    outside_.is_known = true;
    outside_.change = changes_;
    symbols_outside_ = *symbols_;
  }
  refresh(outside_);
  at_entry_.clear();
  for (const auto& function : module_) {
    if (function.isDeclaration()) continue;
    at_entry_.push_back(&function);
    if (!claimed_.contains(&function)) know(function);
  }
  if (reader_.met_the_unusual()) take_whole();
}

void ChangeDetector::leave() {
  const auto* function = std::exchange(current_, nullptr);
  current_known_ = false;
  if (!std::exchange(current_claimed_, false)) return;
  claimed_.insert(function);
  if (is_one_pass_ && !changed_ && !is_unusual_) changed_ = differs(*function);
}

// -- what is known of the module ------------------------------------------------------------------

void ChangeDetector::know_symbols() {
  if (!symbols_) symbols_ = reader_.symbols(module_);
}

void ChangeDetector::know(const ::llvm::Function& function) {
  Known& body = known(function);
  if (!body.is_known) {
    reader_.read_body(function, body.piece);
    body.is_known = body.is_counted = true;
    body.change = changes_;
  }
  refresh(body);
}

// Neighbours in lists of uses move when others change.
void ChangeDetector::refresh(Known& known) {
  if (known.change == changes_) return;
  reader_.refresh(known.piece);
  known.change = changes_;
}

// Pieces are not enough for this module, so it is taken as a whole from here on. That is how it
// was in the beginning, unless something has been changed by now.
void ChangeDetector::take_whole() {
  if (!is_unusual_ && any_claim_) changed_ = differs_anywhere();
  is_unusual_ = true;
  if (!changed_ && !whole_before_) whole_before_ = whole_();
}

ChangeDetector::Known& ChangeDetector::known(const ::llvm::Function& function) {
  auto& body = bodies_[&function];
  if (!body) body = std::make_unique<Known>();
  return *body;
}

std::size_t ChangeDetector::count(const ::llvm::Function& function) {
  Known& body = known(function);
  if (!body.is_counted) {
    body.piece.instructions = count_in(function);
    body.is_counted = true;
  }
  return body.piece.instructions;
}

// -- comparing ------------------------------------------------------------------------------------

// Whether the body is other than it was; if not, keep how it is now.
bool ChangeDetector::differs(const ::llvm::Function& function) {
  Known& body = known(function);
  if (count_in(function) != body.piece.instructions) return true;
  Piece now;
  now.locals = body.piece.locals;
  reader_.read_body(function, now);
  if (now.content != body.piece.content || reader_.met_the_unusual() ||
      now.uses.size() != body.piece.uses.size() ||
      !same_nodes({&body.piece}, {&now}, /*is_everything=*/false)) {
    return true;
  }
  // Visits to other functions may move uses back.
  if (!same_addresses(body.piece, now)) {
    orders_.visited(body.piece, now, followers({&body.piece}) != followers({&now}));
    ++changes_;
  }
  body.piece = std::move(now);
  body.change = changes_;
  return false;
}

bool ChangeDetector::differs_anywhere() {
  if (reader_.symbols(module_) != *symbols_ || orders_.differ()) return true;
  std::vector<const ::llvm::Function*> then, now;
  if (module_claimed_) {
    then = at_entry_;
    for (const auto& function : module_) {
      if (!function.isDeclaration()) now.push_back(&function);
    }
  } else {
    if (is_one_pass_) return false;  // each was compared when it was left
    then.assign(claimed_.begin(), claimed_.end());
    now = then;
  }
  for (std::size_t at = 0; at < now.size(); ++at) {
    if (count_in(*now[at]) != known(*then[at]).piece.instructions) return true;
  }
  std::vector<Piece> pieces(now.size() + 1);
  Pieces before, after;
  if (module_claimed_) {
    reader_.read_outside(module_, pieces.back());
    if (pieces.back().content != outside_.piece.content) return true;
    before.push_back(&outside_.piece);
    after.push_back(&pieces.back());
  }
  for (std::size_t at = 0; at < now.size(); ++at) {
    const Piece& old = known(*then[at]).piece;
    pieces[at].locals = old.locals;
    reader_.read_body(*now[at], pieces[at]);
    if (pieces[at].content != old.content || reader_.met_the_unusual()) return true;
    before.push_back(&old);
    after.push_back(&pieces[at]);
  }
  if (!same_crossings(before, after, module_claimed_)) return true;
  for (std::size_t at = 0; at < now.size(); ++at) {
    Known& body = known(*now[at]);
    body.piece = std::move(pieces[at]);
    body.is_known = body.is_counted = true;
    body.change = changes_;
  }
  if (module_claimed_) outside_.piece = std::move(pieces.back());
  return false;
}

// Whether what the pieces share among each other and with the rest is as it was. Uses of the
// rest were not moved, so they stand in their lists in the order that they had: these lists are
// equal when each use of ours is followed by what followed it before.
bool ChangeDetector::same_crossings(const Pieces& before, const Pieces& after, bool is_everything) {
  if (!same_nodes(before, after, is_everything)) return false;
  const bool is_same =
      std::equal(before.begin(), before.end(), after.begin(),
                 [](const auto* then, const auto* now) { return same_addresses(*then, *now); });
  if (is_same) return true;
  if (followers(before) != followers(after)) return false;
  // What other pieces know of their neighbours was by address.
  ++changes_;
  return true;
}

bool ChangeDetector::same_nodes(const Pieces& before, const Pieces& after, bool is_everything) {
  bool is_same = true;
  for (std::size_t at = 0; at < before.size(); ++at) {
    const Piece &then = *before[at], &now = *after[at];
    if (then.node_content != now.node_content || then.nodes.size() != now.nodes.size()) {
      return false;
    }
    is_same &= then.nodes == now.nodes;
  }
  if (is_same) return true;
  ::llvm::DenseMap<const ::llvm::MDNode*, std::uint32_t> old_numbers, new_numbers;
  if (numbers_of(before, &Piece::nodes, old_numbers) !=
      numbers_of(after, &Piece::nodes, new_numbers)) {
    return false;
  }
  if (!is_everything) {
    ::llvm::DenseSet<const ::llvm::MDNode*> others;
    for (std::size_t at = 0; at < before.size(); ++at) {
      for (std::size_t node = 0; node < before[at]->nodes.size(); ++node) {
        const auto *then = before[at]->nodes[node], *now = after[at]->nodes[node];
        if (then == now) continue;
        others.insert(then);
        others.insert(now);
      }
    }
    if (is_mentioned_elsewhere(before, others)) return false;
  }
  return true;
}

// A node that a piece shares with others cannot be replaced by one that is like it.
bool ChangeDetector::is_mentioned_elsewhere(const Pieces& pieces,
                                            const ::llvm::DenseSet<const ::llvm::MDNode*>& nodes) {
  if (nodes.empty()) return false;
  const auto mentions = [&](const Piece& piece) {
    return ::llvm::any_of(piece.nodes, [&](const auto* node) { return nodes.contains(node); });
  };
  Piece outside;
  reader_.read_outside(module_, outside);
  if (mentions(outside)) return true;
  for (const auto& function : module_) {
    if (function.isDeclaration() || ::llvm::is_contained(pieces, &known(function).piece)) continue;
    Piece body;
    reader_.read_body(function, body);
    if (mentions(body)) return true;
  }
  return false;
}

// Forget what a run changed, and the run.
void ChangeDetector::conclude() {
  if (changed_ && any_claim_) {
    ++changes_;
    symbols_.reset();
    if (module_claimed_) {
      if (bodies_.size() > 2 * module_.size()) bodies_.clear();
      outside_.is_known = false;
      for (auto& [function, body] : bodies_) body->is_known = body->is_counted = false;
    }
    for (const auto* function : claimed_) {
      Known& body = known(*function);
      body.is_known = body.is_counted = false;
    }
  }
  changed_ = any_claim_ = module_known_ = module_claimed_ = false;
  current_claimed_ = current_known_ = false;
  current_ = nullptr;
  claimed_.clear();
  orders_.clear();
  whole_before_.reset();
}

// -- passes ---------------------------------------------------------------------------------------

// A pass gives its name by the same address each time.
const ChangeDetector::Word& ChangeDetector::word_of(::llvm::StringRef pass) {
  const auto [place, is_new] = words_.try_emplace(pass.data());
  if (is_new) place->second = {is_manager(pass), trust_in(pass)};
  return place->second;
}

}  // namespace compiler_gym::llvm
