// Python face of compiler_gym/llvm/statements.h.

#include "compiler_gym/llvm/statements.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_statements(nb::module_& m) {
  m.def(
      "inst2vec_statements",
      [](llvm::Module& module) { return texts(inspected(module, llvm::statements_of)); },
      "module"_a, "The module in the statements of inst2vec's vocabulary.");
}

}  // namespace compiler_gym::python
