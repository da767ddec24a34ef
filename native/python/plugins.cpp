// Python face of compiler_gym/llvm/plugins.h.

#include "compiler_gym/llvm/plugins.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_plugins(nb::module_& m) {
  m.def("shares_llvm", &llvm::shares_llvm,
        "Whether this engine shares its LLVM with what is loaded into the process.");
  m.def("load_plugin", &llvm::load_plugin, "path"_a,
        "Load a plug-in for good and return its name, or raise `PluginError`.");
  m.def("pipeline_of_pass", &llvm::pipeline_of_pass, "name"_a, "plugin"_a = -1,
        "The pipeline that runs one pass alone, asking LLVM and the plug-in of this number, all\n"
        "of them for -1; or raise `PipelineError`.");
}

}  // namespace compiler_gym::python
