// Python face of compiler_gym/llvm/runtime.h.

#include "compiler_gym/llvm/runtime.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "compiler_gym/llvm/retarget.h"

namespace compiler_gym::python {

void bind_runtime(nb::module_& m) {
  m.attr("LLVM_VERSION") = llvm::version();
  m.attr("OUT_OF_MEMORY_STATUS") = llvm::out_of_memory_status;
  m.def("start", &llvm::start, Unlocked(),
        "Register targets and error handlers now instead of at the first use.");
  m.def("machines", &llvm::machines, "The machines with a code generator, x86_64 first.");
  m.def(
      "machine_of", [](const std::string& triple) { return llvm::find_machine(triple); },
      "triple"_a, "The machine of `machines()` for a triple; empty for none.");
  m.def("simulated_processor", &llvm::simulated_processor, "machine"_a,
        "The processor whose cycles are simulated for one of `machines()`.");
  m.def("exit_on_out_of_memory", &llvm::exit_on_out_of_memory, "enabled"_a,
        "End the process with OUT_OF_MEMORY_STATUS when memory runs out, or raise MemoryError.");
}

}  // namespace compiler_gym::python
