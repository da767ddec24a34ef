// Python face of compiler_gym/llvm/inlining.h.

#include "compiler_gym/llvm/inlining.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

using llvm::Inlining;

namespace {

llvm::Level inlining_level_from(const std::string& name) {
  if (const auto level = llvm::level_named(name)) return *level;
  throw nb::value_error(("use a level O0, O1, O2, O3, Os or Oz, not '" + name + "'").c_str());
}

void answer(Inlining& inlining, const std::string& name) {
  const auto named = llvm::parse_inline_answer(name);
  if (!named) {
    throw nb::value_error(
        ("use the answer default, inline or no-inline, not '" + name + "'").c_str());
  }
  nb::gil_scoped_release unlocked;
  inlining.answer(*named);
}

Columns site_of(const Inlining& inlining) {
  const auto site = inlining.call_site();
  Columns columns;
  const auto names = texts({site.caller, site.callee, site.location});
  columns["caller"] = names[0];
  columns["callee"] = names[1];
  columns["location"] = names[2];
  columns["number"] = site.number;
  columns["block"] = site.block;
  columns["instruction"] = site.instruction;
  columns["arguments"] = site.arguments;
  columns["caller_blocks"] = site.caller_blocks;
  columns["caller_instructions"] = site.caller_instructions;
  columns["callee_blocks"] = site.callee_blocks;
  columns["callee_instructions"] = site.callee_instructions;
  columns["callee_calls"] = site.callee_calls;
  columns["is_callee_local"] = site.is_callee_local;
  columns["is_in_loop"] = site.is_in_loop;
  return columns;
}

}  // namespace

void bind_inlining(nb::module_& m) {
  nb::class_<Inlining>(m, "Inlining",
                       "A level's pipeline on a module, whose inliner pauses at each call.")
      .def(
          "__init__",
          [](Inlining* self, llvm::Module& module, const std::string& name) {
            const auto level = inlining_level_from(name);
            nb::gil_scoped_release unlocked;
            new (self) Inlining(module, level);
          },
          "module"_a, "level"_a, nb::keep_alive<1, 2>(),
          "Apply the attributes of a clang level, `O0` to `Oz`, and run its pipeline up to the\n"
          "first question. Until it is over, the module must not be changed in any other way.")
      .def("answer", answer, "answer"_a,
           "Answer the question with `default` (LLVM's own choice), `inline` or `no-inline`, and\n"
           "continue to the next, or to the end of the pipeline.")
      .def_prop_ro("is_over", &Inlining::is_over,
                   "True if the pipeline has ended, so that there are no more questions.")
      .def("call_site", site_of, "The call that the question is about, by column.")
      .def(
          "features",
          [](const Inlining& self) { return unlocked_bytes([&] { return self.features(); }); },
          "The 39 features of inline_feature_names() as little-endian int64.")
      .def_prop_ro(
          "decisions",
          [](const Inlining& self) {
            std::string bytes;
            for (const bool decided : self.decisions()) bytes += static_cast<char>(decided);
            return nb::bytes(bytes.data(), bytes.size());
          },
          "A byte for each question so far: 1 to inline the call.")
      .def("limit_instructions", &Inlining::limit_instructions, "most"_a,
           "Make `answer` raise `ModuleTooLargeError` if the module has more than `most`\n"
           "instructions; 0 sets no limit.");
  m.def("inline_feature_names", &llvm::inline_feature_names,
        "The features that LLVM offers a learned inliner, with its own choice last.");
}

}  // namespace compiler_gym::python
