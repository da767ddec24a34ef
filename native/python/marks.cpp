// Python face of compiler_gym/llvm/marks.h.

#include "compiler_gym/llvm/marks.h"

#include <nanobind/stl/vector.h>

#include "tables.h"

namespace compiler_gym::python {

using llvm::Marks;
using llvm::PointKind;

namespace {

PointKind kind_from(int number) {
  if (number < 0 || number >= static_cast<int>(llvm::point_kinds)) {
    throw nb::value_error("the kind must be 0 (call), 1 (loop) or 2 (function)");
  }
  return static_cast<PointKind>(number);
}

using Rows = nb::typed<nb::list, nb::typed<nb::tuple, int, int, int, nb::str>>;

Rows points(Marks& marks) {
  const auto& found = [&]() -> const std::vector<llvm::Point>& {
    nb::gil_scoped_release unlocked;
    return marks.points();
  }();
  Rows rows;
  for (const auto& point : found) {
    const auto label = nb::steal(PyUnicode_DecodeUTF8(
        point.label.data(), static_cast<Py_ssize_t>(point.label.size()), "backslashreplace"));
    rows.append(nb::make_tuple(static_cast<int>(point.kind), point.id, point.allowed, label));
  }
  return rows;
}

}  // namespace

void bind_marks(nb::module_& m) {
  def_tables(m, llvm::mark_observations);
  m.def(
      "choice_names", [](int kind) { return llvm::choice_names(kind_from(kind)); }, "kind"_a,
      "The choices of a kind: 0 call, 1 loop, 2 function. The first leaves it to LLVM.");
  nb::class_<Marks>(m, "Marks",
                    "Decision points in a module, and the choices that passes must follow.")
      .def(nb::init<llvm::Module&>(), "module"_a, nb::keep_alive<1, 2>())
      .def("number", &Marks::number, Unlocked(),
           "Give an id to every call site, loop and function without one.")
      .def("points", points,
           "All current decision points: (kind, id, a bit for each allowed choice, label).")
      .def(
          "choose",
          [](Marks& marks, int kind, std::int32_t id, std::size_t choice) {
            return marks.choose(kind_from(kind), id, choice);
          },
          "kind"_a, "id"_a, "choice"_a, Unlocked(),
          "Make a choice; return whether the IR changed. Raises `InvalidActionError`, and changes\n"
          "nothing, if the id does not exist any more or does not allow the choice.")
      .def(
          "ids", [](Marks& marks, int kind) { return marks.ids(kind_from(kind)); }, "kind"_a,
          "One more than the highest id of that kind in the module.");
}

}  // namespace compiler_gym::python
