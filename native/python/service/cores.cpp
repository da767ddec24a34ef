// Python face of compiler_gym/service/cores.h.

#include "compiler_gym/service/cores.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_cores(nb::module_& m) {
  m.def("current_core", &service::current_core,
        "The number of the core that this thread is on, or -1 where nobody can say.");
}

}  // namespace compiler_gym::python
