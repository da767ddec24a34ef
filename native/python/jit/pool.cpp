// Python face of compiler_gym/jit/pool.h.

#include "compiler_gym/jit/pool.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace compiler_gym::python {

void bind_pool(nb::module_& m) {
  m.def("thread_count", &jit::thread_count,
        "Return the number of threads that share a parallel loop.");
  m.def("set_thread_count", &jit::set_thread_count, "count"_a,
        "Share parallel loops among `count` threads; 0 is one for each processor of this process.");
}

}  // namespace compiler_gym::python
