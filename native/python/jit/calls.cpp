// Python face of compiler_gym/jit/calls.h.

#include "compiler_gym/jit/calls.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace compiler_gym::python {

using namespace compiler_gym::jit;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

void bind_calls(nb::module_& m) {
  nb::enum_<Clock>(m, "Clock", "The clock for measurements.")
      .value("wall", Clock::wall)
      .value("processor", Clock::processor);
  nb::class_<Call>(m, "Call",
                   "A function with one array of addresses as its argument, and that array.")
      .def(
          "__init__",
          [](Call* self, std::uintptr_t function, std::vector<std::uintptr_t> buffers) {
            new (self) Call{function, std::move(buffers)};
          },
          "function"_a, "buffers"_a)
      .def_ro("function", &Call::function, "The address of the function.")
      .def_ro("buffers", &Call::buffers, "The addresses in its array.")
      .def("run", &run, Unlocked(), "Call it once.");
  m.def(
      "time_in_turns", &time_alternating, "calls"_a, "rounds"_a, "repeats"_a, "clock"_a, Unlocked(),
      "Return the seconds of one run of each call in each round, each the mean of its `repeats`.");
}

}  // namespace compiler_gym::python
