// Python face of compiler_gym/llvm/pass_timing.h.

#include "compiler_gym/llvm/pass_timing.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings.h"

namespace compiler_gym::python {

void bind_pass_timing(nb::module_& m) {
  m.def(
      "time_passes", [](llvm::Module& module, bool is_on) { module.time_passes(is_on); },
      "module"_a, "is_on"_a, "Turn the timing of the module's pipelines on or off.");
  m.def(
      "take_times",
      [](llvm::Module& module) {
        std::vector<
            std::tuple<std::ptrdiff_t, std::string, std::string, std::uint64_t, std::int64_t>>
            parts;
        for (const auto& part : module.take_times()) {
          parts.emplace_back(part.parent, llvm::part_kind_name(part.kind), part.name, part.calls,
                             part.nanoseconds);
        }
        return parts;
      },
      "module"_a,
      "The timed parts since the last call: parent (the index of an earlier part, or -1), kind\n"
      "(`surroundings`, `pass`, `analysis` or `detection`), name, calls, nanoseconds.");
}

}  // namespace compiler_gym::python
