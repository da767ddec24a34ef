// Python face of compiler_gym/llvm/plugins.h.

#include "compiler_gym/llvm/plugins.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_plugins(nb::module_& m) {
  m.def("shares_llvm", &llvm::shares_llvm,
        "Return whether this engine shares its LLVM with libraries loaded into the process.");
  m.def("load_plugin", &llvm::load_plugin, "path"_a,
        "Load a plug-in until the process ends and return its name, or raise `PluginError`.");
  m.def("pipeline_of_pass", &llvm::find_pipeline, "name"_a, "plugin"_a = -1,
        "The pipeline that runs one pass of LLVM or of the plug-in with this number (-1: any), or\n"
        "raise `PipelineError`.");
}

}  // namespace compiler_gym::python
