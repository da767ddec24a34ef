// The Python module compiler_gym._service: one binding file per header. A module of its own, since
// who asks a worker does not load a compiler.

#include "bindings.h"

NB_MODULE(_service, m) {
  using namespace compiler_gym::python;
  m.doc() = "Frames over stream sockets, and requests to many workers at once.";
  // Who leaves the interpreter may have some channels open. Only modules of our domain hear it.
  nb::set_leak_warnings(false);
  bind_channel(m);
  bind_cores(m);
  bind_exchange(m);
  bind_reply(m);
}
