// Python face of compiler_gym/llvm/linker.h.

#include "compiler_gym/llvm/linker.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_linker(nb::module_& m) {
  m.def(
      "link_modules",
      [](const std::vector<nb::bytes>& modules) {
        std::vector<std::string_view> views;
        for (const auto& one : modules) views.push_back(view(one));
        return unlocked_bytes([&] { return llvm::link_modules(views); });
      },
      "modules"_a, "Link modules into one, or raise `BenchmarkInitError`.");
  m.def(
      "split_functions",
      [](const nb::bytes& data) {
        std::vector<std::pair<std::string, nb::bytes>> parts;
        const auto split = [&] {
          nb::gil_scoped_release unlocked;
          return llvm::split_functions(view(data));
        }();
        for (const auto& [name, bytes] : split) {
          parts.emplace_back(name, nb::bytes(bytes.data(), bytes.size()));
        }
        return parts;
      },
      "data"_a, "One module for each defined function, as (name, bitcode), and one for the rest.");
  m.def(
      "strip_noop_bitcasts",
      [](const nb::bytes& data) {
        return unlocked_bytes([&] { return llvm::strip_noop_bitcasts(view(data)); });
      },
      "data"_a, "The module without casts from a type to itself.");
}

}  // namespace compiler_gym::python
