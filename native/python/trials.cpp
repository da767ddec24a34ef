// Python face of compiler_gym/llvm/trials.h.

#include "compiler_gym/llvm/trials.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_trials(nb::module_& m) {
  m.def(
      "try_on",
      [](llvm::Module& module, const std::vector<llvm::Choice>& choices) {
        const auto trials = [&] {
          nb::gil_scoped_release unlocked;
          return llvm::try_on(module, choices);
        }();
        return std::pair(raw(trials.instructions), raw(trials.hashes));
      },
      "module"_a, "choices"_a,
      "Run the pipelines of each pair (function, pipelines) on clones of the function; return\n"
      "the instructions left (int64) and hashes of the results (uint64), in the order of\n"
      "`choices`. The module stays as it is. Raise the errors of `Module.run_on()`.");
}

}  // namespace compiler_gym::python
