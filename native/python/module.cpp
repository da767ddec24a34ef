// Python face of compiler_gym/llvm/module.h. No logic lives here: each line
// gives one C++ function its Python name, argument names and docstring.

#include "compiler_gym/llvm/module.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

using llvm::Module;

namespace {

llvm::Goal goal_from(const std::string& name) {
  if (const auto goal = llvm::goal_named(name)) return *goal;
  throw nb::value_error(("use the goal size or speed, not '" + name + "'").c_str());
}

llvm::Level level_from(const std::string& name) {
  if (const auto level = llvm::level_named(name)) return *level;
  throw nb::value_error(
      ("use a level O0, O1, O2, O3, Os, Oz or OptOz, not '" + name + "'").c_str());
}

}  // namespace

void bind_module(nb::module_& m) {
  nb::class_<Module>(m, "Module", "One LLVM module, changed in place by passes.")
      .def(
          "__init__",
          [](Module* self, const nb::bytes& data, const std::string& name) {
            const auto bytes = view(data);
            nb::gil_scoped_release unlocked;
            new (self) Module(bytes, name);
          },
          "data"_a, "name"_a = "", "Read bitcode or textual IR, or raise `BenchmarkInitError`.")
      .def("run", &Module::run, "pipeline"_a, Unlocked(),
           "Run a textual pass pipeline; return whether the IR changed, exactly.")
      .def("run_on", &Module::run_on, "pipeline"_a, "functions"_a, Unlocked(),
           "Like `run`, on these functions alone. Raise `PipelineError` for passes of modules and\n"
           "components of the call graph, and `InvalidActionError` for a function without a body.")
      .def("apply", &Module::apply, "pipeline"_a, Unlocked(),
           "Run a pipeline without change detection; return whether the IR may have changed.")
      .def("run_with", &Module::run_with, "pipeline"_a, "options"_a, Unlocked(),
           "Run a pipeline with other values of LLVM's options, like a separate run of\n"
           "`opt`; return whether the IR changed, exactly.")
      .def(
          "run_watched",
          [](Module& self, const std::string& pipeline) {
            const auto found = [&] {
              nb::gil_scoped_release unlocked;
              return self.run_watched(pipeline);
            }();
            return std::tuple(found.changed, found.differs, found.holds, found.visits);
          },
          "pipeline"_a,
          "Like `run`, but slower: return its result, whether the hash of the whole IR\n"
          "changed, whether the cached state is correct, and the number of visits by pass\n"
          "class, by whether the pass reported that it preserved everything, and by whether\n"
          "the hash changed.")
      .def("limit_instructions", &Module::limit_instructions, "most"_a,
           "Make `run` raise `ModuleTooLargeError` after a change to more than `most`\n"
           "instructions; 0 sets no limit.")
      .def(
          "bitcode", [](Module& self) { return unlocked_bytes([&] { return self.bitcode(); }); },
          "The bytes that `opt` would write.")
      .def("text", &Module::text, Unlocked(),
           "The text that `opt -S` would print, without the line that names a file.")
      .def(
          "ir_hash", [](Module& self) { return unlocked_bytes([&] { return self.hash(); }); },
          "Sixteen bytes that differ when the IR differs, equal in every process.")
      .def("instruction_count", &Module::instruction_count, "The current number of instructions.")
      .def("verify", &Module::verify, Unlocked(),
           "Raise `InvalidIrError` if the module is not valid IR.")
      .def("chosen_options", &Module::chosen_options,
           "The chosen options of the code generator by name, without defaults. Raises\n"
           "`ObservationError` if the module contains an unknown option.")
      .def(
          "set_goal", [](Module& self, const std::string& goal) { self.set_goal(goal_from(goal)); },
          "goal"_a, "Mark every definition for `size`, or remove those marks for `speed`.")
      .def(
          "apply_level",
          [](Module& self, const std::string& name) {
            const auto level = level_from(name);
            nb::gil_scoped_release unlocked;
            self.apply_level(level);
          },
          "level"_a,
          "Apply the attributes of a clang level, `O0` to `Oz`, and run its pipeline; `OptOz`\n"
          "removes the attributes and runs opt's `default<Oz>`.")
      .def(
          "apply_linked_level",
          [](Module& self, const std::string& name, const std::vector<std::string>& keep) {
            const auto level = level_from(name);
            nb::gil_scoped_release unlocked;
            self.apply_linked_level(level, keep);
          },
          "level"_a, "keep"_a,
          "Like `apply_level` for a whole program: run the pipelines of `clang -flto` and of a\n"
          "linker. Raises `BenchmarkInitError` as `internalize` does.")
      .def("internalize", &Module::internalize, "keep"_a, Unlocked(),
           "Make all symbols local that no code outside the program can name; return those\n"
           "that stay visible: `main`, functions that libraries may call, and `keep`. Raise\n"
           "`BenchmarkInitError` if there is neither `main` nor `keep`, or if `keep` has a\n"
           "name that the module does not define.")
      .def("retarget", &Module::retarget, "target"_a, Unlocked(),
           "Retarget the module to a machine of `machines()` or a triple of one; return\n"
           "whether that changed it. Raise `BenchmarkInitError`, and change nothing, for an\n"
           "unknown machine and for modules with inline assembly, intrinsics or types of\n"
           "x86.")
      .def(
          "autophase",
          [](Module& self) { return unlocked_bytes([&] { return self.autophase(); }); },
          "The 56 AutoPhase features as little-endian int64.")
      .def(
          "inst_count",
          [](Module& self) { return unlocked_bytes([&] { return self.inst_count(); }); },
          "The 70 instruction counts as little-endian int64.")
      .def(
          "object_code",
          [](Module& self) { return unlocked_bytes([&] { return self.object_code(); }); },
          "The ELF object that `llc -filetype=obj` would make.")
      .def(
          "assembly", [](Module& self) { return unlocked_bytes([&] { return self.assembly(); }); },
          "The assembly that `llc -filetype=asm` would write; its names need not be UTF-8.")
      .def("object_text_size", &Module::object_text_size, Unlocked(),
           "The bytes of machine code: the executable sections of the object, as\n"
           "`llvm-size -A` lists them. The `text` of plain `llvm-size` adds read-only data.")
      .def_prop_ro("triple", &Module::triple, "The target triple.")
      .def_prop_ro("data_layout", &Module::data_layout, "The data layout string.")
      .def_prop_ro("source_filename", &Module::source_filename,
                   "The source file name that the IR records.");
}

}  // namespace compiler_gym::python
