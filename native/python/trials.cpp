// Python face of compiler_gym/llvm/trials.h.

#include "compiler_gym/llvm/trials.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
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
        return std::tuple(raw(trials.instructions), raw(trials.hashes), raw(trials.digests));
      },
      "module"_a, "choices"_a,
      "Run the pipelines of each pair (function, pipelines) on clones of the function; return\n"
      "the instructions left (int64), and two numbers of each result (uint64), in the order of\n"
      "`choices`: LLVM's structural hash, and a digest. Results of a function with equal digests\n"
      "have the same code. The module stays as it is. Raise the errors of `Module.run_on()`.");
  m.def("keep_bodies", &llvm::keep_bodies, "module"_a, "names"_a, Unlocked(),
        "Replace the bodies of all other functions by one `unreachable`; the code of these stays\n"
        "the same. Raise the errors of `Module.run_on()`.");
}

}  // namespace compiler_gym::python
