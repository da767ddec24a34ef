// Python face of compiler_gym/llvm/tokens.h.

#include "compiler_gym/llvm/tokens.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "tables.h"

namespace compiler_gym::python {
namespace {

llvm::LexedText lexed(std::string text, llvm::Tokens (*tokens_of)(const std::string&)) {
  auto tokens = tokens_of(text);
  return {std::move(tokens), std::move(text)};
}

std::string text_in(const nb::bytes& data) { return {data.c_str(), data.size()}; }

}  // namespace

void bind_tokens(nb::module_& m) {
  def_table<llvm::LexedText>(m, "lexed_ir", "IR text as tokens.", [](llvm::Module& module) {
    return lexed(module.text(), llvm::tokens_of);
  });
  def_table<llvm::Words>(m, "lexed_words", "IR text as numbers of its different tokens, and those.",
                         [](llvm::Module& module) { return llvm::words_of(module.text()); });
  m.def(
      "lexed_text",
      [](const nb::bytes& data) { return columns_of(lexed(text_in(data), llvm::tokens_of)); },
      "data"_a, "IR text in bytes as tokens, or raise `BenchmarkInitError`.");
  m.def(
      "lexed_text_by_llvm",
      [](const nb::bytes& data) { return columns_of(lexed(text_in(data), llvm::tokens_by_llvm)); },
      "data"_a, "The same by LLVM's lexer alone, to compare with.");
  m.def("token_categories", &llvm::token_categories, "What category is an index into.");
  m.def("token_kinds", &llvm::token_kinds, "The kinds that are not keywords: (number, name).");
}

}  // namespace compiler_gym::python
