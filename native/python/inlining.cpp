// Python face of compiler_gym/llvm/inlining.h.

#include "compiler_gym/llvm/inlining.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

using llvm::Inlining;

namespace {

llvm::Level level_from(const std::string& name) {
  if (const auto level = llvm::level_named(name)) return *level;
  throw nb::value_error(
      ("expected a level O0, O1, O2, O3, Os or Oz, found '" + name + "'").c_str());
}

void answer(Inlining& inlining, const std::string& name) {
  const auto named = llvm::inline_answer_named(name);
  if (!named) {
    throw nb::value_error(
        ("expected an answer default, inline or no-inline, found '" + name + "'").c_str());
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
                       "A level's pipeline on a module, whose inliner asks about each call.")
      .def(
          "__init__",
          [](Inlining* self, llvm::Module& module, const std::string& name) {
            const auto level = level_from(name);
            nb::gil_scoped_release unlocked;
            new (self) Inlining(module, level);
          },
          "module"_a, "level"_a, nb::keep_alive<1, 2>(),
          "Give the attributes of a clang level, `O0` to `Oz`, and run its pipeline up to the\n"
          "first question. Until it is over, nobody else may change the module.")
      .def("answer", answer, "answer"_a,
           "Answer the question with `default` (what LLVM would do), `inline` or `no-inline`, and\n"
           "go on to the next, or to the end of the pipeline.")
      .def_prop_ro("is_over", &Inlining::is_over,
                   "Whether the pipeline has come to its end: there is no question any more.")
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
          "Of each question so far, a byte that is 1 where the call was to be inlined.")
      .def("limit_instructions", &Inlining::limit_instructions, "most"_a,
           "From now on `answer` raises `ModuleTooLargeError` where the module has grown to more\n"
           "than `most` instructions; 0 sets no limit.");
  m.def("inline_feature_names", &llvm::inline_feature_names,
        "The features that LLVM offers a learned inliner, and its own choice as the last.");
}

}  // namespace compiler_gym::python
