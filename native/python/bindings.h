// Helpers that the binding files share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler_gym/llvm/module.h"

namespace compiler_gym::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_errors(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_features(nb::module_& m);
void bind_function_shapes(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_inlining(nb::module_& m);
void bind_ir2vec(nb::module_& m);
void bind_linker(nb::module_& m);
void bind_machine(nb::module_& m);
void bind_marks(nb::module_& m);
void bind_module(nb::module_& m);
void bind_pass_record(nb::module_& m);
void bind_pass_timing(nb::module_& m);
void bind_pipeline(nb::module_& m);
void bind_plugins(nb::module_& m);
void bind_program_graph(nb::module_& m);
void bind_statements(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_tokens(nb::module_& m);
void bind_trials(nb::module_& m);

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

inline std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Compute `work` on a module's IR without the interpreter's lock.
template <class Work>
auto inspected(llvm::Module& module, Work&& work) {
  nb::gil_scoped_release unlocked;
  std::optional<decltype(work(std::declval<const ::llvm::Module&>()))> result;
  module.inspect([&](const ::llvm::Module& ir) { result.emplace(work(ir)); });
  return std::move(*result);
}

// The numbers of a column, as bytes.
template <class Column>
nb::bytes raw(const Column& column) {
  return nb::bytes(reinterpret_cast<const char*>(column.data()),
                   column.size() * sizeof(*column.data()));
}

// Columns of a table, or parts of a record, by name.
using Columns = nb::typed<nb::dict, nb::str, nb::any>;
using Texts = nb::typed<nb::list, nb::str>;

// Names from a module, which need not be UTF-8.
inline Texts texts(const std::vector<std::string>& names) {
  nb::list list;
  for (const auto& name : names) {
    list.append(nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()),
                                               "backslashreplace")));
  }
  return list;
}

// Call without the interpreter's lock, then return the result as bytes.
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
