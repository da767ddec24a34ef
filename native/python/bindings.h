// What the binding files share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace compiler_gym::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_errors(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_features(nb::module_& m);
void bind_linker(nb::module_& m);
void bind_module(nb::module_& m);
void bind_pipeline(nb::module_& m);

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

inline std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Call without the interpreter's lock, then hand the result over as bytes.
template <class Work>
nb::bytes unlocked_bytes(Work&& work) {
  const auto result = [&] {
    nb::gil_scoped_release unlocked;
    return work();
  }();
  return nb::bytes(reinterpret_cast<const char*>(result.data()),
                   result.size() * sizeof(*result.data()));
}

}  // namespace compiler_gym::python
