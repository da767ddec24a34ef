// Python's classes of the errors of compiler_gym/jit/errors.h.

#include "compiler_gym/jit/errors.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace compiler_gym::python {
namespace {

// Never destroyed: the classes must outlive every exception.
struct Classes {
  nb::object invalid_ir, target, link, fatal;
};
const Classes* classes = nullptr;

void translate(const std::exception_ptr& raised, void*) {
  const auto raise = [](const nb::object& cls, const std::exception& error) {
    PyErr_SetString(cls.ptr(), error.what());
  };
  try {
    std::rethrow_exception(raised);
  } catch (const jit::InvalidIrError& error) {
    raise(classes->invalid_ir, error);
  } catch (const jit::TargetError& error) {
    raise(classes->target, error);
  } catch (const jit::LinkError& error) {
    raise(classes->link, error);
  } catch (const jit::FatalError& error) {
    raise(classes->fatal, error);
  }
}

}  // namespace

void bind_jit_errors(nb::module_&) {
  const auto errors = nb::module_::import_("compiler_gym.errors");
  classes = new Classes{errors.attr("InvalidIrError"), errors.attr("InvalidParameterError"),
                        errors.attr("CompilerDiagnosticError"), errors.attr("CompilerFatalError")};
  nb::register_exception_translator(translate, nullptr);
}

}  // namespace compiler_gym::python
