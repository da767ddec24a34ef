// A formula over named numbers; see inputs.h for its language.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <cstdint>
#include <string>
#include <vector>

namespace compiler_gym::linker {

class Formula {
 public:
  // Read a formula over these names. After a syntax error, `error` is not empty.
  Formula(llvm::StringRef text, llvm::ArrayRef<llvm::StringLiteral> names);

  const std::string& error() const { return error_; }
  // The value for the inputs, in the order of the names.
  double operator()(llvm::ArrayRef<double> inputs) const { return compute(root_, inputs); }

  enum class Kind : std::uint8_t {
    number,
    input,
    plus,
    minus,
    times,
    divided,
    less,
    at_most,
    equal,
    both,
    either,
    none,
    smaller,
    larger,
    choice
  };
  struct Node {
    Kind kind;
    double number = 0;
    unsigned parts[3] = {};
  };

 private:
  friend class FormulaReader;
  double compute(unsigned node, llvm::ArrayRef<double> inputs) const;

  std::vector<Node> nodes_;
  unsigned root_ = 0;
  std::string error_;
};

}  // namespace compiler_gym::linker
