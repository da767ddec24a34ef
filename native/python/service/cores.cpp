// Python face of compiler_gym/service/cores.h.

#include "compiler_gym/service/cores.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_cores(nb::module_& m) {
  m.def("current_core", &service::current_core,
        "The number of the core on which this thread runs, or -1 if unknown.");
}

}  // namespace compiler_gym::python
