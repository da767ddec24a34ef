// Python face of compiler_gym/jit/target.h.

#include "compiler_gym/jit/target.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace compiler_gym::python {

using namespace compiler_gym::jit;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

void bind_target(nb::module_& m) {
  m.def("host_cpu", &host_cpu, "Return LLVM's name of this machine's processor.");
  m.def("host_triple", &host_triple, "Return LLVM's triple of this machine.");
  m.def("host_features", &host_features, "Return the features of this machine's processor.");
  m.def("vector_bits", &vector_bits, "Return the width of its widest vector register in bits.");
  m.def("vector_registers", &vector_registers, "Return the number of its vector registers.");
  m.def("assembly", &assembly, "ir"_a, "triple"_a = "", "cpu"_a = "", "features"_a = "",
        "level"_a = 2, Unlocked(),
        "Return assembly of textual IR: for this machine, or PTX for nvptx64-nvidia-cuda.");
}

}  // namespace compiler_gym::python
