// The Python module compiler_gym._service: one binding file per header. A separate module, because
// clients of a worker do not load a compiler.

#include "bindings.h"

NB_MODULE(_service, m) {
  using namespace compiler_gym::python;
  m.doc() = "Frames over stream sockets, and requests to many workers at once.";
  // Channels may be open when the interpreter exits. This affects only modules of our domain.
  nb::set_leak_warnings(false);
  bind_channel(m);
  bind_cores(m);
  bind_exchange(m);
  bind_reply(m);
}
