#include "formulas/formula.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/Twine.h>
#include <algorithm>

namespace compiler_gym::linker {

using Kind = Formula::Kind;

namespace {

constexpr unsigned most_nodes = 1000;
constexpr unsigned most_levels = 100;

bool is_in_word(char letter) { return llvm::isAlnum(letter) || letter == '_' || letter == '.'; }

}  // namespace

// Reads by recursive descent and stops at the first error.
class FormulaReader {
 public:
  FormulaReader(Formula& formula, llvm::StringRef text, llvm::ArrayRef<llvm::StringLiteral> names)
      : formula_(formula), rest_(text), names_(names) {
    advance();
  }

  unsigned read() {
    const unsigned root = choice();
    if (!token_.empty()) refuse("cannot read '" + token_ + "'");
    return root;
  }

 private:
  void advance() {
    rest_ = rest_.ltrim();
    std::size_t length = rest_.empty() ? 0 : 1;
    if (length && is_in_word(rest_[0])) {
      while (length < rest_.size() && is_in_word(rest_[length])) ++length;
    } else if (length && llvm::StringRef("<>=!").contains(rest_[0]) &&
               rest_.substr(1).starts_with("=")) {
      length = 2;
    }
    token_ = rest_.take_front(length);
    rest_ = rest_.drop_front(length);
  }

  bool take(llvm::StringRef expected) {
    if (token_ != expected) return false;
    advance();
    return true;
  }

  void require(llvm::StringRef expected) {
    if (!take(expected)) refuse("'" + expected + "' is missing before '" + token_ + "'");
  }

  unsigned refuse(const llvm::Twine& problem) {
    if (formula_.error_.empty()) formula_.error_ = problem.str();
    rest_ = token_ = "";
    return 0;
  }

  unsigned add(Kind kind, unsigned first = 0, unsigned second = 0, unsigned third = 0) {
    if (formula_.nodes_.size() >= most_nodes) return refuse("it has too many operations");
    formula_.nodes_.push_back({kind, 0, {first, second, third}});
    return formula_.nodes_.size() - 1;
  }

  unsigned add_number(double number) {
    const unsigned node = add(Kind::number);
    if (formula_.error_.empty()) formula_.nodes_[node].number = number;
    return node;
  }

  unsigned choice() {
    if (++level_ > most_levels) return refuse("it is nested too deeply");
    unsigned left = either();
    if (take("if")) {
      const unsigned condition = either();
      require("else");
      left = add(Kind::choice, condition, left, choice());
    }
    --level_;
    return left;
  }

  unsigned either() {
    unsigned left = both();
    while (take("or")) left = add(Kind::either, left, both());
    return left;
  }

  unsigned both() {
    unsigned left = negation();
    while (take("and")) left = add(Kind::both, left, negation());
    return left;
  }

  unsigned negation() {
    bool is_negated = false;
    while (take("not")) is_negated = !is_negated;
    const unsigned inner = comparison();
    return is_negated ? add(Kind::none, inner) : inner;
  }

  unsigned comparison() {
    const unsigned left = sum();
    if (take("<")) return add(Kind::less, left, sum());
    if (take("<=")) return add(Kind::at_most, left, sum());
    if (take("==")) return add(Kind::equal, left, sum());
    if (take("!=")) return add(Kind::none, add(Kind::equal, left, sum()));
    if (take(">")) return add(Kind::less, sum(), left);
    if (take(">=")) return add(Kind::at_most, sum(), left);
    return left;
  }

  unsigned sum() {
    unsigned left = product();
    while (true) {
      if (take("+"))
        left = add(Kind::plus, left, product());
      else if (take("-"))
        left = add(Kind::minus, left, product());
      else
        return left;
    }
  }

  unsigned product() {
    unsigned left = factor();
    while (true) {
      if (take("*"))
        left = add(Kind::times, left, factor());
      else if (take("/"))
        left = add(Kind::divided, left, factor());
      else
        return left;
    }
  }

  unsigned factor() {
    bool is_negative = false;
    while (take("-")) is_negative = !is_negative;
    const unsigned inner = atom();
    return is_negative ? add(Kind::minus, add_number(0), inner) : inner;
  }

  unsigned atom() {
    if (take("(")) {
      const unsigned inner = choice();
      require(")");
      return inner;
    }
    for (const auto& [name, kind] :
         {std::pair("min", Kind::smaller), std::pair("max", Kind::larger)})
      if (take(name)) {
        require("(");
        const unsigned left = choice();
        require(",");
        const unsigned right = choice();
        require(")");
        return add(kind, left, right);
      }
    const llvm::StringRef word = token_;
    if (word.empty()) return refuse("it ends too early");
    double number = 0;
    if (!word.getAsDouble(number)) {
      advance();
      return add_number(number);
    }
    const auto name = llvm::find(names_, word);
    if (name == names_.end())
      return refuse("no input '" + word + "'; use " + llvm::join(names_, ", "));
    advance();
    return add(Kind::input, name - names_.begin());
  }

  Formula& formula_;
  llvm::StringRef rest_;
  llvm::StringRef token_;
  llvm::ArrayRef<llvm::StringLiteral> names_;
  unsigned level_ = 0;
};

Formula::Formula(llvm::StringRef text, llvm::ArrayRef<llvm::StringLiteral> names) {
  root_ = FormulaReader(*this, text, names).read();
}

double Formula::compute(unsigned number, llvm::ArrayRef<double> inputs) const {
  const Node& node = nodes_[number];
  const auto part = [&](unsigned which) { return compute(node.parts[which], inputs); };
  switch (node.kind) {
    case Kind::number: return node.number;
    case Kind::input: return inputs[node.parts[0]];
    case Kind::plus: return part(0) + part(1);
    case Kind::minus: return part(0) - part(1);
    case Kind::times: return part(0) * part(1);
    case Kind::divided: {
      const double divisor = part(1);
      return divisor == 0 ? 0 : part(0) / divisor;
    }
    case Kind::less: return part(0) < part(1);
    case Kind::at_most: return part(0) <= part(1);
    case Kind::equal: return part(0) == part(1);
    case Kind::both: return part(0) != 0 && part(1) != 0;
    case Kind::either: return part(0) != 0 || part(1) != 0;
    case Kind::none: return part(0) == 0;
    case Kind::smaller: return std::min(part(0), part(1));
    case Kind::larger: return std::max(part(0), part(1));
    case Kind::choice: return part(0) != 0 ? part(1) : part(2);
  }
  return 0;
}

}  // namespace compiler_gym::linker
