// Python face of compiler_gym/llvm/features.h; the counts themselves are
// methods of Module.

#include "compiler_gym/llvm/features.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_features(nb::module_& m) {
  m.def("autophase_names", &llvm::autophase_names, "The names of Module.autophase(), in order.");
  m.def("inst_count_names", &llvm::inst_count_names, "The names of Module.inst_count(), in order.");
}

}  // namespace compiler_gym::python
