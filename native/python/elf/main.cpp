// The Python module compiler_gym._elf: tables of ELF files for reports, and demangled names. A
// separate module, because readers of files do not load a compiler.

#include <llvm/Demangle/Demangle.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler_gym/elf/file.h"
#include "compiler_gym/elf/frames.h"
#include "compiler_gym/elf/function_bytes.h"
#include "compiler_gym/elf/units.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace compiler_gym::elf;

// Columns by name: lists of names, and numbers as the bytes of uint64.
using Columns = nb::typed<nb::dict, nb::str, nb::any>;
using Texts = nb::typed<nb::list, nb::str>;

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Names from a file need not be UTF-8.
nb::object plain(const std::vector<std::string>& names) {
  nb::list list;
  for (const auto& name : names) {
    list.append(nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()),
                                               "backslashreplace")));
  }
  return list;
}

nb::object plain(const std::vector<std::uint64_t>& column) {
  return nb::bytes(reinterpret_cast<const char*>(column.data()), column.size() * sizeof(column[0]));
}

nb::object plain(std::uint64_t number) { return nb::int_(number); }
nb::object plain(const Columns& columns) { return columns; }

template <class... Values>
Columns columns(std::initializer_list<const char*> names, const Values&... values) {
  Columns result;
  const auto* name = names.begin();
  ((result[*name++] = plain(values)), ...);
  return result;
}

// Call without the interpreter's lock.
template <class Work>
auto unlocked(Work&& work) {
  nb::gil_scoped_release released;
  return work();
}

Columns file(const nb::bytes& data) {
  const auto found = unlocked([&] { return read_file(view(data)); });
  const auto& sections = found.sections;
  const auto& segments = found.segments;
  const auto& symbols = found.symbols;
  const auto& relocations = found.relocations;
  return columns(
      {"bits", "little", "kind", "machine", "entry", "header_size", "segments_at", "segments_size",
       "sections_at", "sections_size", "sections", "segments", "symbols", "relocations"},
      found.bits, found.little, found.kind, found.machine, found.entry, found.header_size,
      found.segments_at, found.segments_size, found.sections_at, found.sections_size,
      columns({"name", "kind", "flags", "address", "offset", "size", "link", "alignment"},
              sections.name, sections.kind, sections.flags, sections.address, sections.offset,
              sections.size, sections.link, sections.alignment),
      columns({"kind", "flags", "offset", "address", "size"}, segments.kind, segments.flags,
              segments.offset, segments.address, segments.size),
      columns({"name", "value", "size", "section", "kind", "dynamic"}, symbols.name, symbols.value,
              symbols.size, symbols.section, symbols.kind, symbols.dynamic),
      columns({"place", "target", "packed"}, relocations.place, relocations.target,
              relocations.packed));
}

Columns frames(const nb::bytes& data, std::uint64_t address, const nb::bytes& tables,
               std::uint64_t tables_address, int bits, bool little) {
  const Layout layout{little, static_cast<std::uint8_t>(bits / 8)};
  const auto found = unlocked(
      [&] { return read_frames({view(data), address}, {view(tables), tables_address}, layout); });
  return columns({"offset", "size", "function", "function_size", "saved", "table", "landing"},
                 found.offset, found.size, found.function, found.function_size, found.saved,
                 found.tables, found.landing);
}

Columns units(const nb::bytes& data) {
  const auto found = unlocked([&] { return read_units(view(data)); });
  return columns({"name", "unit", "low", "high"}, found.name, found.unit, found.low, found.high);
}

nb::typed<nb::dict, nb::str, int> function_bytes(const nb::bytes& data) {
  const llvm::MemoryBufferRef object({data.c_str(), data.size()}, "object");
  const auto found = unlocked([&] { return read_function_bytes(object); });
  if (!found) throw BadFile("it is not an ELF object, or is damaged");
  nb::typed<nb::dict, nb::str, int> bytes;
  for (const auto& [name, count] : *found) {
    bytes[nb::bytes(name.data(), name.size()).attr("decode")("utf-8", "backslashreplace")] = count;
  }
  return bytes;
}

Texts demangle(const std::vector<std::string>& names) {
  return nb::cast<Texts>(plain(unlocked([&] {
    std::vector<std::string> plain_names;
    plain_names.reserve(names.size());
    for (const auto& name : names) plain_names.push_back(llvm::demangle(name));
    return plain_names;
  })));
}

}  // namespace

NB_MODULE(_elf, m) {
  m.doc() = "Tables of ELF files, as columns by name; numbers are bytes of uint64.";
  m.def("read_file", &file, "data"_a,
        "The headers, sections, segments, symbols and relative relocations of an ELF file for any "
        "machine. Raises `ValueError` if it is not an ELF file, or is damaged.");
  m.def("read_frames", &frames, "data"_a, "address"_a, "tables"_a, "tables_address"_a, "bits"_a,
        "little"_a,
        "The entries of `.eh_frame` up to the first that cannot be read, with the exception tables "
        "in `.gcc_except_table`.");
  m.def("read_units", &units, "data"_a,
        "The compile units in the debug information of an ELF file, with their addresses. Raises "
        "`ValueError` if it is not ELF.");
  m.def("function_bytes", &function_bytes, "object"_a,
        "The bytes that each function of an ELF object adds to a program: its code, its entry in "
        "the unwind table, its exception table and its jump tables. Functions that share a section "
        "are left out. Raises `ValueError` if it is not an ELF object, or is damaged.");
  m.def("demangle", &demangle, "names"_a, "Names of C++, Rust and D as in the source.");
}
