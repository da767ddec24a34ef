// Python face of compiler_gym/llvm/runtime.h.

#include "compiler_gym/llvm/runtime.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_runtime(nb::module_& m) {
  m.attr("LLVM_VERSION") = llvm::version();
  m.attr("OUT_OF_MEMORY_STATUS") = llvm::out_of_memory_status;
  m.def("start", &llvm::start, Unlocked(),
        "Register targets and error handlers now rather than at the first use.");
  m.def("exit_on_out_of_memory", &llvm::exit_on_out_of_memory, "enabled"_a,
        "End the process with OUT_OF_MEMORY_STATUS when memory runs out, or raise MemoryError.");
}

}  // namespace compiler_gym::python
