// Descriptions of the engine's tables, from which spaces are built.

#include "tables.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

namespace compiler_gym::python {
namespace {

using Described = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::size_t>;
using Tables = std::map<std::string, std::vector<Described>>;

Tables& tables() {
  static Tables known;
  return known;
}

}  // namespace

void describe_table(const std::string& name, std::vector<ColumnDescription> columns) {
  auto& described = tables()[name];
  for (const auto& [column, dtype] : columns) {
    described.emplace_back(column.name, dtype, column.low, column.high, column.width);
  }
}

void bind_tables(nb::module_& m) {
  m.def(
      "describe_tables", [] { return tables(); },
      "The columns of every table by the name of its function: (name, dtype, low, high, width).\n"
      "The width is 0 if a row is one value.");
}

}  // namespace compiler_gym::python
