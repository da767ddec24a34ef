// Tables as they leave the engine. Each struct declares the names and contents of its columns once,
// in `visit_columns`, which calls a visitor with every column. The dictionary for Python, the
// description of its space and the docstring in the stub are derived from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

struct Column {
  const char* name;
  const char* doc;
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max() - 1;  // Gymnasium adds one to it
  std::size_t width = 0;  // of a row; 0 if each row is one value
};

// An index into another table or text, or -1 for none.
constexpr Column index_column(const char* name, const char* doc) {
  return {name, doc, -1, std::numeric_limits<std::int32_t>::max()};
}

constexpr Column count_column(const char* name, const char* doc) { return {name, doc}; }

// Rows of `width` counts.
constexpr Column rows_column(const char* name, const char* doc, std::size_t width) {
  Column column{name, doc};
  column.width = width;
  return column;
}

constexpr Column flag_column(const char* name, const char* doc) { return {name, doc, 0, 1}; }

// One of `kinds` values.
constexpr Column kind_column(const char* name, const char* doc, std::size_t kinds) {
  return {name, doc, 0, static_cast<std::int64_t>(kinds) - 1};
}

constexpr Column text_column(const char* name, const char* doc) { return {name, doc, 0, 255}; }

constexpr Column names_column(const char* name, const char* doc) { return {name, doc, 0, 0}; }

// A table that Python receives as `name`: the bindings only list these.
template <class Table>
struct Observed {
  const char* name;
  Table (*make)(const ::llvm::Module& module);
  const char* doc;
};

}  // namespace compiler_gym::llvm
