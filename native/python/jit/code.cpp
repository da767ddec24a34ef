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
  nb::class_<Stages>(m, "Stages", "Wall time of each stage of a compilation, in seconds.")
      .def_ro("read", &Stages::read, "Reading and verifying the text.")
      .def_ro("optimise", &Stages::optimise, "The passes of the level.")
      .def_ro("generate", &Stages::generate, "Generating machine code.")
      .def_ro("link", &Stages::link, "Linking it in memory.");
  nb::class_<CacheUse>(m, "CacheUse", "Statistics of the cache.")
      .def_ro("hits", &CacheUse::hits, "Requests that compiled nothing.")
      .def_ro("misses", &CacheUse::misses, "Requests that had to compile.");
  nb::class_<Code>(m, "Code", "The functions of one module: their addresses live as long as this.")
      .def("address", &Code::address, "name"_a,
           "Return the address of a function, or raise `CompilerDiagnosticError`.")
      .def_prop_ro("size", &Code::size, "The bytes of the object file.")
      .def_prop_ro("stages", &Code::stages, nb::rv_policy::reference_internal,
                   "Times of the compilation.");
  m.def("compile", &Code::compile, "ir"_a, "level"_a, "symbols"_a = Symbols(), Unlocked(),
        "Compile textual IR for this machine.");
  m.def("compile_cached", &compile_cached, "ir"_a, "level"_a, "symbols"_a = Symbols(), Unlocked(),
        "Compile textual IR for this machine, or return the result of a recent equal request.");
  m.def("cache_use", &cache_use, "Return the hits and misses of `compile_cached`.");
  m.def("clear_cache", &clear_cache, "Empty the cache of `compile_cached`.");
}

}  // namespace compiler_gym::python
