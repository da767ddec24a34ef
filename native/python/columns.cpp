// Python lists from columns of numbers: like NumPy for objects, in a fifth of the time. A separate
// module, because readers of observations do not load a compiler.

#include <cstdint>
#include <cstdlib>

#include "nanobind/nanobind.h"
#include "nanobind/ndarray.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Places = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::typed<nb::list, nb::any>;
using Texts = nb::typed<nb::list, nb::str>;

// glibc returns large blocks to the system at once, so that every page of the next one must be
// mapped again, which takes longer than filling it. It stops when it sees one freed, for the whole
// process: call this only on request.
void keep_large_blocks() {
  void* volatile block = std::malloc(std::size_t{31} << 20);
  std::free(block);
}

// The stable interface has functions instead of these macros; they repeat the checks made here.
#ifdef Py_LIMITED_API
void put(const nb::list& made, std::size_t i, PyObject* value) {
  PyList_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), value);
}
PyObject* at(const Values& values, std::int32_t i) { return PyList_GetItem(values.ptr(), i); }
#else
void put(const nb::list& made, std::size_t i, PyObject* value) {
  PyList_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), value);
}
PyObject* at(const Values& values, std::int32_t i) { return PyList_GET_ITEM(values.ptr(), i); }
#endif

Values taken(const Values& values, const Places& places) {
  const auto size = static_cast<std::uint32_t>(values.size());
  const auto count = places.shape(0);
  const std::int32_t* place = places.data();
  auto made = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!made.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::uint32_t>(place[i]) >= size) {
      throw nb::index_error("a place is outside the list of values");
    }
    put(made, i, Py_NewRef(at(values, place[i])));
  }
  return made;
}

Texts texts(const nb::bytes& data, const Places& ends) {
  const auto count = ends.shape(0);
  const auto size = static_cast<std::int64_t>(data.size());
  auto made = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!made.is_valid()) throw nb::python_error();
  std::int64_t start = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t end = ends.data()[i];
    if (end < start || end > size)
      throw nb::index_error("ends must be inside the data and in order");
    PyObject* text = PyUnicode_DecodeUTF8(data.c_str() + start, end - start, "backslashreplace");
    if (!text) throw nb::python_error();
    put(made, i, text);
    start = end;
  }
  return made;
}

}  // namespace

NB_MODULE(_columns, m) {
  m.doc() = "Python lists from columns of numbers.";
  m.def("taken", &taken, "values"_a, "places"_a,
        "The values at the places int32[n], as a list. Raises `IndexError` for other places.");
  m.def("keep_large_blocks", &keep_large_blocks,
        "Make the C library keep freed blocks of up to 31 MB, in the whole process: the next large "
        "list takes a fraction of the time. Programs may call this, libraries should not.");
  m.def("texts", &texts, "data"_a, "ends"_a,
        "The UTF-8 texts in data that end before `ends` int32[n]; other bytes are escaped. Raises "
        "`IndexError` for ends that are not in the data, or not in order.");
}
