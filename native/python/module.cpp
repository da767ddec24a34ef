// Python face of compiler_gym/llvm/module.h. No logic lives here: each line
// gives one C++ function its Python name, argument names and docstring.

#include "compiler_gym/llvm/module.h"

#include "bindings.h"

namespace compiler_gym::python {

using llvm::Module;

void bind_module(nb::module_& m) {
  nb::class_<Module>(m, "Module", "One LLVM module, changed in place by passes.")
      .def(
          "__init__",
          [](Module* self, const nb::bytes& data, const std::string& name) {
            const auto bytes = view(data);
            nb::gil_scoped_release unlocked;
            new (self) Module(bytes, name);
          },
          "data"_a, "name"_a = "",
          "Read bitcode or textual IR, or raise `BenchmarkInitError`.")
      .def("run", &Module::run, "pipeline"_a, Unlocked(),
           "Run a textual pass pipeline; return whether the IR changed, exactly.")
      .def(
          "bitcode", [](Module& self) { return unlocked_bytes([&] { return self.bitcode(); }); },
          "The bytes that `opt` would write.")
      .def("text", &Module::text, Unlocked(),
           "The text that `opt -S` would print, less the line that names a file.")
      .def(
          "ir_hash", [](Module& self) { return unlocked_bytes([&] { return self.hash(); }); },
          "Sixteen bytes that differ when the IR differs, equal in every process.")
      .def("instruction_count", &Module::instruction_count,
           "How many instructions the module holds now.")
      .def("verify", &Module::verify, Unlocked(),
           "Raise `InvalidIrError` if the module is not valid IR.")
      .def_prop_ro("triple", &Module::triple, "The target triple.")
      .def_prop_ro("data_layout", &Module::data_layout, "The data layout string.")
      .def_prop_ro("source_filename", &Module::source_filename,
                   "The source file name that the IR records.");
}

}  // namespace compiler_gym::python
