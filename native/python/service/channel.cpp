// Python face of compiler_gym/service/channel.h.

#include "compiler_gym/service/channel.h"

#include <limits>
#include <string_view>

#include "bindings.h"

namespace compiler_gym::python {

using service::Channel;
using service::ChannelError;

namespace {

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::object object_of(service::Bytes frame) {
  return nb::steal(static_cast<PyObject*>(frame.release()));
}

void translate(const std::exception_ptr& raised, void*) {
  try {
    std::rethrow_exception(raised);
  } catch (const ChannelError& error) {  // Python chooses the class from the number
    const nb::object arguments = nb::make_tuple(error.number, error.what());
    const nb::object made = nb::steal(PyObject_Call(PyExc_OSError, arguments.ptr(), nullptr));
    if (made.is_valid()) PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

constexpr double forever = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<Channel*> channels_in(const nb::sequence& sequence) {
  std::vector<Channel*> channels;
  channels.reserve(nb::len(sequence));
  for (nb::handle item : sequence) channels.push_back(&nb::cast<Channel&>(item));
  return channels;
}

void bind_channel(nb::module_& m) {
  nb::register_exception_translator(translate, nullptr);
  m.attr("FRAME_HEADER") = service::frame_header;
  nb::class_<Channel>(m, "Channel", "The frames of one socket: requests and their replies.")
      .def(
          "__init__",
          [](Channel* self, int descriptor) { new (self) Channel(descriptor, interpreter()); },
          "descriptor"_a)
      .def("close", &Channel::close, "Stop using the descriptor; it stays open.")
      .def(
          "send",
          [](Channel& self, const nb::bytes& payload, double deadline) {
            self.send(view(payload), deadline);
          },
          "payload"_a, "deadline"_a = forever,
          "Send a frame. Raises `OSError`: `ConnectionError` if the other end is closed, "
          "`TimeoutError` if it is not sent until `deadline`, by `time.monotonic()`.")
      .def("has_ended", &Channel::has_ended,
           "True if the other end is closed and everything has been read.")
      .def(
          "receive",
          [](Channel& self, double deadline, double awake_seconds) {
            return nb::cast<nb::bytes>(object_of(self.receive(deadline, awake_seconds)));
          },
          "deadline"_a = forever, "awake_seconds"_a = 0.0,
          "Return the next frame. Raises `ConnectionResetError` at the end of the stream, "
          "`TimeoutError` after `deadline`, by `time.monotonic()`, and `OSError` for an invalid "
          "frame (`EPROTO`) and after `close`.")
      .def("wait", &Channel::wait, "deadline"_a = forever, "awake_seconds"_a = 0.0,
           "Wait until there is something to read, or raise `TimeoutError`.")
      .def(
          "hold",
          [](Channel& self, nb::bytes payload, double limit) {
            self.hold(bytes_of(std::move(payload)), limit);
          },
          "payload"_a, "limit"_a,
          "Store a request, which will have `limit` seconds once it is sent.")
      .def("send_held", &Channel::send_held, "Send the stored request. `receive` raises any error.")
      .def("place", &Channel::place, "core"_a,
           "Bind the process at the other end to this core, or to all of ours (-1).")
      .def("settle", &Channel::settle,
           "Keep the other process on this thread's core while either end finds its core crowded; "
           "free it otherwise.")
      .def_prop_ro(
          "is_crowded", &Channel::is_crowded,
          "True if other processes recently competed for the core on which this end was spinning.")
      .def_rw("sleeps", &Channel::sleeps, "Whether to wait without spinning first.")
      .def_prop_ro("is_held", &Channel::is_held, "Whether a request is stored.")
      .def_rw("awaits", &Channel::awaits,
              "Whether a request was sent and its reply is outstanding.")
      .def_ro("is_placed", &Channel::is_placed, "Whether the other process is bound to one core.")
      .def_ro("deadline", &Channel::deadline,
              "The deadline of the reply to the last request, by `time.monotonic()`, if it did not "
              "have to wait for its core.")
      .def_ro("limit", &Channel::limit, "The seconds that the last request had.")
      .def_rw("pid", &Channel::pid, "The id of the process at the other end.")
      .def_rw("core", &Channel::core, "The number of its core after the last exchange, or -1.")
      .def_rw("seconds", &Channel::seconds, "The duration of the step in the last exchange, or 0.");
}

}  // namespace compiler_gym::python
