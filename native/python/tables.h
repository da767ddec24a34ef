// Python face of compiler_gym/llvm/table.h: tables are registered here, and their columns become a
// dictionary, a docstring and a part of describe_tables().
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "compiler_gym/llvm/table.h"

namespace compiler_gym::python {

struct ColumnDescription {
  llvm::Column column;
  std::string dtype;
};

// Record the columns of the table `name`.
void describe_table(const std::string& name, std::vector<ColumnDescription> columns);

inline nb::object plain(const std::vector<std::string>& names) { return texts(names); }
template <class Values>
nb::object plain(const Values& values) {
  return raw(values);
}

template <class Values>
std::string dtype_of(const Values&) {
  using Value = typename Values::value_type;
  if constexpr (std::is_same_v<Value, std::string>) {
    return "str";
  } else if constexpr (std::is_same_v<Value, char>) {
    return "uint8";
  } else {
    static_assert(std::is_integral_v<Value>, "add the dtype of this column");
    return "int" + std::to_string(8 * sizeof(Value));
  }
}

template <class Table>
Columns columns_of(const Table& table) {
  nb::dict columns;
  visit_columns(table, [&](const llvm::Column& column, const auto& values) {
    columns[column.name] = plain(values);
  });
  return columns;
}

template <class Table, class Make>
void def_table(nb::module_& m, const char* name, const char* doc, Make make) {
  std::vector<ColumnDescription> described;
  std::string text = std::string(doc) + "\n\nColumns, as bytes unless they are text:";
  visit_columns(Table{}, [&](const llvm::Column& column, const auto& values) {
    described.push_back({column, dtype_of(values)});
    text += std::string("\n- ") + column.name + " (" + dtype_of(values) + "): " + column.doc;
  });
  describe_table(name, std::move(described));
  m.def(
      name,
      [make](llvm::Module& module) {
        const Table table = [&] {
          nb::gil_scoped_release unlocked;
          return make(module);
        }();
        return columns_of(table);
      },
      "module"_a, text.c_str());
}

template <class Table>
void def_table(nb::module_& m, const llvm::Observed<Table>& observed) {
  def_table<Table>(m, observed.name, observed.doc, [make = observed.make](llvm::Module& module) {
    Table table;
    module.inspect([&](const ::llvm::Module& ir) { table = make(ir); });
    return table;
  });
}

template <class... Tables>
void def_tables(nb::module_& m, const std::tuple<llvm::Observed<Tables>...>& all) {
  std::apply([&](const auto&... one) { (def_table(m, one), ...); }, all);
}

}  // namespace compiler_gym::python
