// Python face of compiler_gym/llvm/pipeline.h.

#include "compiler_gym/llvm/pipeline.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_pipeline(nb::module_& m) {
  m.def("check_pipeline", &llvm::check_pipeline, "pipeline"_a, Unlocked(),
        "Raise `PipelineError` if LLVM refuses the text, or accepts it and then aborts on every "
        "program.");
  m.def(
      "registered_passes",
      [] {
        std::vector<std::tuple<std::string, std::string, std::string>> rows;
        for (auto& [kind, name, parameters] : llvm::registered_passes()) {
          rows.emplace_back(kind, name, parameters);
        }
        return rows;
      },
      "Every pass in LLVM's registry as (kind, name, parameters).");
}

}  // namespace compiler_gym::python
