// The interpreter as a compiler_gym/service/host.h: its lock, its signals, its bytes.

#include "compiler_gym/service/host.h"

#include <cxxabi.h>
#include <unistd.h>

#include "bindings.h"

namespace compiler_gym::python {
namespace {

void forget(void* object) { Py_DECREF(static_cast<PyObject*>(object)); }

class Interpreter : public service::Host {
 public:
  void check_interrupts() override {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  void* unlock() override { return PyEval_SaveThread(); }

  // A thread that takes the lock while the interpreter exits is unwound, which no caller expects:
  // wait for the end of the process instead.
  void lock(void* state) override {
    try {
      PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    } catch (abi::__forced_unwind&) {
      while (true) pause();
    }
  }

  service::Bytes make_bytes(std::size_t size) override {
    PyObject* const object = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
    if (!object) {
      PyErr_Clear();
      return {};
    }
    return {PyBytes_AsString(object), size, object, forget};
  }
};

}  // namespace

// Never destroyed: channels may outlive every static.
service::Host& interpreter() {
  static service::Host& host = *new Interpreter;
  return host;
}

service::Bytes bytes_of(nb::bytes object) {
  char* const data = PyBytes_AsString(object.ptr());
  const std::size_t size = object.size();
  return {data, size, object.release().ptr(), forget};
}

}  // namespace compiler_gym::python
