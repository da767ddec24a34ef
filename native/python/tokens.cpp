// Python face of compiler_gym/llvm/tokens.h.

#include "compiler_gym/llvm/tokens.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

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
        nb::dict columns;
        columns["token_id"] = raw(tokens.kind);
        columns["token_category"] = raw(tokens.category);
        columns["token_start"] = raw(tokens.start);
        columns["token_end"] = raw(tokens.end);
        columns["text"] = raw(text);
        return columns;
      },
      "module"_a,
      "IR text as tokens: columns of int32, of int8 for the category, and the text in bytes.");
  m.def("token_categories", &llvm::token_categories, "What category is an index into.");
  m.def("token_kinds", &llvm::token_kinds, "The kinds that are not keywords: (number, name).");
}

}  // namespace compiler_gym::python
