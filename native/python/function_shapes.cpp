// Python face of compiler_gym/llvm/function_shapes.h.

#include "compiler_gym/llvm/function_shapes.h"

#include "tables.h"

namespace compiler_gym::python {

void bind_function_shapes(nb::module_& m) { def_tables(m, llvm::function_shape_observations); }

}  // namespace compiler_gym::python
