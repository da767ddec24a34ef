// Remembers in what order the uses of shared values stood before a pass moved them.
//
// A pass that makes the same code again in one function after the other moves their uses to the
// front of the lists of the globals that they share, and may leave them as they were: that
// nothing differs in the end is known when it has visited all of them.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Use.h"
#include "llvm/IR/Value.h"
#include "piece_reader.h"

namespace compiler_gym::llvm {

class UseOrders {
 public:
  // A visit replaced uses of a piece by others, which stand for the same operands, and nothing
  // else. `is_moved` says that lists have another order now: keep what they had, if it is not
  // kept already.
  void visited(const Piece& before, const Piece& after, bool is_moved);

  // Whether any list that is kept has another order now.
  bool differ() const;
  bool empty() const { return orders_.empty(); }
  void clear() { orders_.clear(); }

 private:
  // By value: what stood in its list in the beginning, by what stands for it now.
  ::llvm::DenseMap<const ::llvm::Value*, std::vector<const ::llvm::Use*>> orders_;
};

}  // namespace compiler_gym::llvm
