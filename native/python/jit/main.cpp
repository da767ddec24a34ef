// The Python module compiler_gym._jit: one binding file per header. A separate module, because
// users of passes alone do not load code generators and a linker.

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace compiler_gym::python {
void bind_jit_errors(nb::module_&);
void bind_code(nb::module_&);
void bind_target(nb::module_&);
void bind_calls(nb::module_&);
void bind_pool(nb::module_&);
}  // namespace compiler_gym::python

NB_MODULE(_jit, m) {
  using namespace compiler_gym::python;
  m.doc() = "Machine code of textual LLVM IR, called in process.";
  // Code may be kept alive when the interpreter exits. This affects only modules of our domain.
  nb::set_leak_warnings(false);
  bind_jit_errors(m);
  bind_code(m);
  bind_target(m);
  bind_calls(m);
  bind_pool(m);
}
