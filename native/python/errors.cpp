// The only file that knows the classes of compiler_gym.errors.

#include "compiler_gym/llvm/errors.h"

#include "bindings.h"

#include <string_view>

namespace compiler_gym::python {
namespace {

// Never destroyed: the classes must outlive every exception.
struct Classes {
  nb::object init, pipeline, fatal, diagnostic, invalid_ir, too_large, unsupported, plugin, refused;
};
const Classes* classes = nullptr;

void translate(const std::exception_ptr& raised, void*) {
  const auto raise = [](const nb::object& cls, const std::exception& error) {
    // LLVM quotes its input, which need not be UTF-8.
    const std::string_view words = error.what();
    const auto message = nb::steal(
        PyUnicode_DecodeUTF8(words.data(), static_cast<Py_ssize_t>(words.size()), "replace"));
    if (message.is_valid()) PyErr_SetObject(cls.ptr(), message.ptr());
  };
  try {
    std::rethrow_exception(raised);
  } catch (const llvm::InitError& error) {
    raise(classes->init, error);
  } catch (const llvm::PipelineError& error) {
    raise(classes->pipeline, error);
  } catch (const llvm::FatalError& error) {
    raise(classes->fatal, error);
  } catch (const llvm::DiagnosticError& error) {
    raise(classes->diagnostic, error);
  } catch (const llvm::InvalidIrError& error) {
    raise(classes->invalid_ir, error);
  } catch (const llvm::TooLargeError& error) {
    raise(classes->too_large, error);
  } catch (const llvm::UnsupportedError& error) {
    raise(classes->unsupported, error);
  } catch (const llvm::PluginError& error) {
    raise(classes->plugin, error);
  } catch (const llvm::RefusedError& error) {
    raise(classes->refused, error);
  }
}

}  // namespace

void bind_errors(nb::module_&) {
  const auto errors = nb::module_::import_("compiler_gym.errors");
  classes = new Classes{errors.attr("BenchmarkInitError"), errors.attr("PipelineError"),
                        errors.attr("CompilerFatalError"), errors.attr("CompilerDiagnosticError"),
                        errors.attr("InvalidIrError"),     errors.attr("ModuleTooLargeError"),
                        errors.attr("ObservationError"),   errors.attr("PluginError"),
                        errors.attr("InvalidActionError")};
  nb::register_exception_translator(translate, nullptr);
}

}  // namespace compiler_gym::python
