// Python face of compiler_gym/llvm/tokens.h.

#include "compiler_gym/llvm/tokens.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {
namespace {

nb::dict columns_of(const llvm::Tokens& tokens, const std::string& text) {
  nb::dict columns;
  columns["token_id"] = raw(tokens.kind);
  columns["token_category"] = raw(tokens.category);
  columns["token_start"] = raw(tokens.start);
  columns["token_end"] = raw(tokens.end);
  columns["text"] = raw(text);
  return columns;
}

}  // namespace

void bind_tokens(nb::module_& m) {
  m.def(
      "lexed_ir",
      [](llvm::Module& module) {
        std::string text;
        const auto tokens = [&] {
          nb::gil_scoped_release unlocked;
          text = module.text();
          return llvm::tokens_of(text);
        }();
        return columns_of(tokens, text);
      },
      "module"_a,
      "IR text as tokens: columns of int32, of int8 for the category, and the text in bytes.");
  m.def(
      "lexed_words",
      [](llvm::Module& module) {
        const auto words = [&] {
          nb::gil_scoped_release unlocked;
          return llvm::words_of(module.text());
        }();
        nb::dict columns;
        columns["token_word"] = raw(words.token_word);
        columns["word_id"] = raw(words.kind);
        columns["word_category"] = raw(words.category);
        columns["word_end"] = raw(words.end);
        columns["text"] = raw(words.text);
        return columns;
      },
      "module"_a,
      "IR text as numbers of its different tokens, and those: columns as of lexed_ir.");
  m.def(
      "lexed_text",
      [](const nb::bytes& data) {
        const std::string text(data.c_str(), data.size());
        return columns_of(llvm::tokens_of(text), text);
      },
      "data"_a, "IR text in bytes as tokens, or raise `BenchmarkInitError`.");
  m.def(
      "lexed_text_by_llvm",
      [](const nb::bytes& data) {
        const std::string text(data.c_str(), data.size());
        return columns_of(llvm::tokens_by_llvm(text), text);
      },
      "data"_a, "The same by LLVM's lexer alone, to compare with.");
  m.def("token_categories", &llvm::token_categories, "What category is an index into.");
  m.def("token_kinds", &llvm::token_kinds, "The kinds that are not keywords: (number, name).");
}

}  // namespace compiler_gym::python
