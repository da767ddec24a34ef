// Python face of compiler_gym/llvm/tokens.h.

#include "compiler_gym/llvm/tokens.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "tables.h"

namespace compiler_gym::python {
namespace {

llvm::LexedText lexed(std::string text, llvm::Tokens (*tokenize)(const std::string&)) {
  auto tokens = tokenize(text);
  return {std::move(tokens), std::move(text)};
}

std::string text_in(const nb::bytes& data) { return {data.c_str(), data.size()}; }

}  // namespace

void bind_tokens(nb::module_& m) {
  def_table<llvm::LexedText>(m, "lexed_ir", "IR text as tokens.", [](llvm::Module& module) {
    return lexed(module.text(), llvm::tokenize);
  });
  def_table<llvm::Words>(m, "lexed_words",
                         "IR text as indices of its distinct tokens, and these tokens.",
                         [](llvm::Module& module) { return llvm::index_words(module.text()); });
  m.def(
      "lexed_text",
      [](const nb::bytes& data) { return columns_of(lexed(text_in(data), llvm::tokenize)); },
      "data"_a, "IR text in bytes as tokens, or raise `BenchmarkInitError`.");
  m.def(
      "lexed_text_by_llvm",
      [](const nb::bytes& data) { return columns_of(lexed(text_in(data), llvm::tokens_by_llvm)); },
      "data"_a, "Like `lexed_ir`, but with LLVM's lexer alone, for comparison.");
  m.def("token_categories", &llvm::token_categories, "The names that the column category indexes.");
  m.def("token_kinds", &llvm::token_kinds, "The kinds that are not keywords: (number, name).");
}

}  // namespace compiler_gym::python
