// Python face of compiler_gym/service/lockstep.h.

#include "compiler_gym/service/lockstep.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {
namespace {

// The memory of an array that can be written to.
class Memory {
 public:
  explicit Memory(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_CONTIG) != 0) throw nb::python_error();
  }
  ~Memory() { PyBuffer_Release(&view_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  service::Rows rows() const {
    const auto count = view_.ndim > 0 ? static_cast<std::size_t>(view_.shape[0]) : 0;
    const auto size = static_cast<std::size_t>(view_.len);
    return {static_cast<char*>(view_.buf), count, count > 0 ? size / count : 0};
  }

 private:
  Py_buffer view_;
};

}  // namespace

void bind_lockstep(nb::module_& m) {
  m.def(
      "hold_all",
      [](const ChannelSequence& channels, const nb::typed<nb::sequence, nb::bytes>& payloads,
         const Numbers& limits) {
        std::vector<service::Bytes> requests;
        std::vector<double> seconds;
        for (nb::handle item : payloads) requests.push_back(bytes_of(nb::cast<nb::bytes>(item)));
        for (nb::handle item : limits) seconds.push_back(nb::cast<double>(item));
        return service::hold_all(channels_in(channels), std::move(requests), seconds);
      },
      "channels"_a, "payloads"_a, "limits"_a,
      "Have each channel hold a request, if none holds one or awaits a reply; return whether.");
  m.def(
      "settle",
      [](const ChannelSequence& channels, nb::handle observations, nb::handle no_effects,
         std::size_t seen_at, std::size_t cost_at, bool cost_is_float, std::size_t count) {
        const Memory seen(observations), unchanged(no_effects);
        return service::settle(channels_in(channels), seen.rows(), unchanged.rows(),
                               {seen_at, cost_at, cost_is_float, count});
      },
      "channels"_a, "observations"_a, "no_effects"_a, "seen_at"_a, "cost_at"_a, "cost_is_float"_a,
      "count"_a = 2,
      "Take in the replies to steps of one action. Those that only say what was observed give a "
      "row of `observations` and of `no_effects`, and a number; those of None are left, as are "
      "replies of another number of values than `count`.");
}

}  // namespace compiler_gym::python
