// Python face of compiler_gym/jit/code.h.

#include "compiler_gym/jit/code.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace compiler_gym::python {

using namespace compiler_gym::jit;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

void bind_code(nb::module_& m) {
  nb::class_<Stages>(m, "Stages", "Seconds of wall time that each stage of a compilation took.")
      .def_ro("read", &Stages::read, "Reading and verifying the text.")
      .def_ro("optimise", &Stages::optimise, "The passes of the level.")
      .def_ro("generate", &Stages::generate, "Making machine code.")
      .def_ro("link", &Stages::link, "Putting it where it runs.");
  nb::class_<CacheUse>(m, "CacheUse", "How many requests were answered by the cache.")
      .def_ro("hits", &CacheUse::hits, "Requests that compiled nothing.")
      .def_ro("misses", &CacheUse::misses, "Requests that had to compile.");
  nb::class_<Code>(m, "Code", "The functions of one module: their addresses live as long as this.")
      .def("address", &Code::address, "name"_a,
           "Return where a function is, or raise `CompilerDiagnosticError`.")
      .def_prop_ro("size", &Code::size, "The bytes of the object file.")
      .def_prop_ro("stages", &Code::stages, nb::rv_policy::reference_internal,
                   "What the compilation took.");
  m.def("compile", &Code::compile, "ir"_a, "level"_a, "symbols"_a = Symbols(), Unlocked(),
        "Compile textual IR for this machine.");
  m.def("compile_cached", &compile_cached, "ir"_a, "level"_a, "symbols"_a = Symbols(), Unlocked(),
        "Compile textual IR for this machine, or return what an equal request did of late.");
  m.def("cache_use", &cache_use, "Return how often `compile_cached` found what was asked for.");
  m.def("clear_cache", &clear_cache, "Let go of what `compile_cached` keeps.");
}

}  // namespace compiler_gym::python
