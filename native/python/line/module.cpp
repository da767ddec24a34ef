#include <sched.h>

#include <cstring>

#include "line.h"
#include "reply.h"
#include "wave.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace compiler_gym::line;

namespace {

std::vector<Line*> lines_of(const nb::list& list) {
  std::vector<Line*> lines;
  lines.reserve(nb::len(list));
  for (nb::handle item : list) lines.push_back(&nb::cast<Line&>(item));
  return lines;
}

// The memory of an array that can be written to.
class Memory {
 public:
  explicit Memory(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_CONTIG) != 0) throw nb::python_error();
  }
  ~Memory() { PyBuffer_Release(&view_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* row(std::size_t number) const {
    return static_cast<char*>(view_.buf) + number * row_size();
  }
  std::size_t row_size() const {
    return rows() > 0 ? static_cast<std::size_t>(view_.len) / rows() : 0;
  }
  std::size_t rows() const {
    return view_.ndim > 0 ? static_cast<std::size_t>(view_.shape[0]) : 0;
  }

 private:
  Py_buffer view_;
};

bool hold_all(const nb::list& list, const nb::list& payloads, const nb::list& limits) {
  const std::vector<Line*> lines = lines_of(list);
  std::vector<nb::bytes> requests;
  std::vector<double> seconds;
  for (nb::handle item : payloads) requests.push_back(nb::cast<nb::bytes>(item));
  for (nb::handle item : limits) seconds.push_back(nb::cast<double>(item));
  if (requests.size() != lines.size() || seconds.size() != lines.size()) {
    throw nb::value_error("expected a payload and a limit for each line");
  }
  for (const Line* line : lines) {
    if (line->awaits || line->is_held()) return false;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i]->hold(std::move(requests[i]), seconds[i]);
  }
  return true;
}

// Some encoders write 2.0 as 2.
nb::object number_of(const Item& item, bool as_float) {
  if (item.kind == Item::Kind::kInteger) {
    if (as_float) return nb::float_(static_cast<double>(item.integer));
    return nb::int_(item.integer);
  }
  if (item.kind == Item::Kind::kFloat && as_float) return nb::float_(item.number);
  return nb::none();
}

nb::list settle(const nb::list& list, nb::handle observations, nb::handle no_effects,
                std::size_t seen_at, std::size_t cost_at, bool cost_is_float) {
  const std::vector<Line*> lines = lines_of(list);
  const Memory seen(observations), unchanged(no_effects);
  if (seen.rows() != lines.size() || unchanged.rows() != lines.size() ||
      (!lines.empty() && unchanged.row_size() != 1)) {
    throw nb::value_error("expected a row for each line, and a truth value");
  }
  nb::list costs;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    nb::object cost = nb::none();
    const auto reply = read_stepped(lines[i]->frame());
    if (reply && reply->is_usual) {
      const auto values = reply->observation(seen_at), number = reply->observation(cost_at);
      if (values && number && values->kind == Item::Kind::kBytes &&
          values->bytes.size() == seen.row_size()) {
        cost = number_of(*number, cost_is_float);
      }
      if (!cost.is_none()) {
        std::memcpy(seen.row(i), values->bytes.data(), seen.row_size());
        *unchanged.row(i) = reply->no_effect ? 1 : 0;
        lines[i]->forget_frame();
        lines[i]->awaits = false;
      }
    }
    costs.append(cost);
  }
  return costs;
}

}  // namespace

NB_MODULE(_line, m) {
  m.doc() = "Frames over stream sockets, and requests to many workers at once.";
  nb::set_leak_warnings(false);  // who leaves the interpreter may have some open
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Trouble& trouble) {  // Python chooses the class by the number
      const nb::object arguments = nb::make_tuple(trouble.number, trouble.what());
      const nb::object made = nb::steal(PyObject_Call(PyExc_OSError, arguments.ptr(), nullptr));
      if (made.is_valid()) PyErr_SetObject(made.type().ptr(), made.ptr());
    }
  });
  constexpr double forever = std::numeric_limits<double>::infinity();
  nb::class_<Line>(m, "Line", "One socket's frames: writing and reading them, requests and their replies.")
      .def(nb::init<int>(), "descriptor"_a)
      .def("close", &Line::close, "Use the descriptor no more; it stays open.")
      .def("send", &Line::send, "payload"_a, "deadline"_a = forever,
           "Send a frame. Raises `OSError`: `ConnectionError` if nobody can read it, "
           "`TimeoutError` if it is not sent until `deadline`, by `time.monotonic()`.")
      .def("has_ended", &Line::has_ended, "Whether the other side has gone and all of it is read.")
      .def("receive", &Line::receive, "deadline"_a = forever, "awake_seconds"_a = 0.0,
           "Return the next frame. Raises `ConnectionResetError` at the end of the stream, "
           "`TimeoutError` after `deadline`, by `time.monotonic()`, and `OSError` for what is no "
           "frame (`EPROTO`) and when `close` was called.")
      .def("wait", &Line::wait, "deadline"_a = forever, "awake_seconds"_a = 0.0,
           "Wait until there is something to read, or raise `TimeoutError`.")
      .def("hold", &Line::hold, "payload"_a, "limit"_a,
           "Keep a request back that has `limit` seconds from when it is sent.")
      .def("send_held", &Line::send_held,
           "Send what was kept back. What goes wrong is raised by `receive`.")
      .def("place", &Line::place, "core"_a,
           "Let the process at the other end run on this core, or on all of ours (-1).")
      .def_prop_ro("is_held", &Line::is_held, "Whether a request is kept back.")
      .def_rw("awaits", &Line::awaits, "Whether a request was sent and its reply not received.")
      .def_ro("is_placed", &Line::is_placed, "Whether the other process has one core only.")
      .def_ro("deadline", &Line::deadline,
              "When the reply to the last request is overdue, by `time.monotonic()`, if it did not "
              "have to wait for its core.")
      .def_ro("limit", &Line::limit, "How many seconds the last request had.")
      .def_rw("pid", &Line::pid, "The number of the process at the other end.")
      .def_rw("core", &Line::core, "The number of the core that it was on after the last exchange, or -1.")
      .def_rw("seconds", &Line::seconds, "How long the step of the last exchange took it, or 0.");
  m.def("hold_all", &hold_all, "lines"_a, "payloads"_a, "limits"_a,
        "Have each line hold a request, if none holds one or awaits a reply; return whether.");
  m.def(
      "exchange_at_once",
      [](const nb::list& lines, double first_awake_seconds, double awake_seconds) {
        const nb::tuple kept(lines);  // whatever becomes of the list meanwhile
        exchange_at_once(lines_of(lines), first_awake_seconds, awake_seconds);
      },
      "lines"_a, "first_awake_seconds"_a, "awake_seconds"_a,
      "Send what the lines hold and wait for the replies, which `receive` then returns. Only what "
      "interrupts is raised: `receive` raises the rest.");
  m.def(
      "exchange_in_turn",
      [](const nb::list& lines, const nb::list& seconds, double share, double late_seconds) {
        const nb::tuple kept(lines);
        std::vector<double> expected;
        for (nb::handle item : seconds) expected.push_back(nb::cast<double>(item));
        if (expected.size() != nb::len(lines)) {
          throw nb::value_error("expected the seconds of each line");
        }
        const Turns turns = exchange_in_turn(lines_of(lines), expected, share, late_seconds);
        return nb::make_tuple(turns.timed, turns.late);
      },
      "lines"_a, "seconds"_a, "share"_a, "late_seconds"_a,
      "As `exchange_at_once`, the longest first by what they are expected to take, `seconds`. Each "
      "core gets its part of `share` of them at once, then one at a time. Return how many replies "
      "say how long they were computed, and how many `late_seconds` they came later than that, "
      "but no more than there were.");
  m.def("settle", &settle, "lines"_a, "observations"_a, "no_effects"_a, "seen_at"_a, "cost_at"_a,
        "cost_is_float"_a,
        "Take in the replies to steps of one action. Those that only say what was observed give a "
        "row of `observations` and of `no_effects`, and a number; those of None are left.");
  m.def("current_core", &sched_getcpu,
        "The number of the core that this thread is on, or -1 where nobody can say.");
}
