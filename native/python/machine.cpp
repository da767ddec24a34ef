// Python face of compiler_gym/llvm/machine.h.

#include "compiler_gym/llvm/machine.h"

#include "bindings.h"
#include "compiler_gym/llvm/codegen.h"
#include "compiler_gym/llvm/retarget.h"

namespace compiler_gym::python {

void bind_machine(nb::module_& m) {
  m.attr("MCA_PROCESSOR") = llvm::simulated_processor("x86_64");
  m.def(
      "object_instruction_count",
      [](llvm::Module& module) { return llvm::count_machine_instructions(module.object_code()); },
      "module"_a, Unlocked(),
      "The machine instructions of the module's object file, as `llvm-objdump -d` lists them.");
  m.def(
      "code_size",
      [](const nb::bytes& data) {
        const auto bytes = view(data);
        nb::gil_scoped_release unlocked;
        return llvm::count_text_bytes(bytes);
      },
      "data"_a, "The bytes of machine code in an object file or a linked program.");
  m.def(
      "machine_blocks",
      [](llvm::Module& module) {
        const auto blocks = [&] {
          nb::gil_scoped_release unlocked;
          return llvm::estimate_blocks(llvm::emit_object_with_blocks(module.bitcode()));
        }();
        nb::typed<nb::list, nb::typed<nb::tuple, nb::bytes, int, int, int, double, double>> rows;
        for (const auto& [function, section, address, size, frequency, cycles] : blocks) {
          rows.append(nb::make_tuple(nb::bytes(function.data(), function.size()), section, address,
                                     size, frequency, cycles));
        }
        return rows;
      },
      "module"_a,
      "Blocks of machine code, hottest of their functions first: (function, section, address,\n"
      "size, frequency, cycles).");
  m.def(
      "object_code_with_blocks",
      [](llvm::Module& module) {
        return unlocked_bytes([&] { return llvm::emit_object_with_blocks(module.bitcode()); });
      },
      "module"_a, "The object file with a map of its blocks.");
  m.def(
      "object_code_in_sections",
      [](llvm::Module& module) {
        return unlocked_bytes([&] { return llvm::emit_object_in_sections(module.bitcode()); });
      },
      "module"_a,
      "The position-independent object file with a section for each function and variable, for\n"
      "a linker that drops and folds them.");
  m.def(
      "let_assembly_read_files", &llvm::let_assembly_read_files, "may"_a,
      "Set whether inline assembly may read files during code generation. By default it may not.");
}

}  // namespace compiler_gym::python
