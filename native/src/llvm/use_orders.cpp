#include "use_orders.h"

#include <algorithm>

#include "llvm/ADT/MapVector.h"

namespace compiler_gym::llvm {
namespace {

using Order = std::vector<const ::llvm::Use*>;
using Replaced = ::llvm::DenseMap<const ::llvm::Use*, const ::llvm::Use*>;

Order order_now(const ::llvm::Value& value) {
  Order order;
  if (value.use_empty()) return order;
  const auto* first = &*value.use_begin();
  for (const auto* use = is_in_use(*first) ? first : next_in_list(*first); use;
       use = next_in_list(*use)) {
    order.push_back(use);
  }
  return order;
}

// The uses of others stand as they stood, and ours where what follows them says. `ahead` has one
// of ours by what followed it, null for the end.
Order order_before(const ::llvm::Value& value, const ::llvm::DenseSet<const ::llvm::Use*>& ours,
                   const Replaced& ahead) {
  auto others = order_now(value);
  std::erase_if(others, [&](const auto* use) { return ours.contains(use); });
  Order order;
  const auto add_those_ahead_of = [&](const ::llvm::Use* use) {
    for (use = ahead.lookup(use); use; use = ahead.lookup(use)) order.push_back(use);
  };
  add_those_ahead_of(nullptr);
  for (auto at = others.rbegin(); at != others.rend(); ++at) {
    order.push_back(*at);
    add_those_ahead_of(*at);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

void UseOrders::visited(const Piece& before, const Piece& after, bool is_moved) {
  if (!is_moved && orders_.empty()) return;
  Replaced replaced;
  for (std::size_t at = 0; at < before.uses.size(); ++at) {
    replaced[before.uses[at]] = after.uses[at];
  }
  const auto current = [&](const ::llvm::Use* use) {
    const auto place = replaced.find(use);
    return place == replaced.end() ? use : place->second;
  };
  for (auto& [value, order] : orders_) {
    for (auto& use : order) use = current(use);
  }
  if (!is_moved) return;
  ::llvm::MapVector<const ::llvm::Value*, Replaced> ahead;
  for (std::size_t at = 0; at < after.uses.size(); ++at) {
    ahead[after.uses[at]->get()][current(before.next_uses[at])] = after.uses[at];
  }
  const ::llvm::DenseSet<const ::llvm::Use*> ours(after.uses.begin(), after.uses.end());
  for (const auto& [value, those] : ahead) {
    const auto [place, is_new] = orders_.try_emplace(value);
    if (is_new) place->second = order_before(*value, ours, those);
  }
}

bool UseOrders::differ() const {
  return std::any_of(orders_.begin(), orders_.end(),
                     [](const auto& kept) { return order_now(*kept.first) != kept.second; });
}

}  // namespace compiler_gym::llvm
