// Python face of compiler_gym/llvm/statements.h.

#include "compiler_gym/llvm/statements.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_statements(nb::module_& m) {
  m.def(
      "inst2vec_statements",
      [](llvm::Module& module) { return texts(inspected(module, llvm::write_statements)); },
      "module"_a, "The module as statements of inst2vec's vocabulary.");
}

}  // namespace compiler_gym::python
