// Python face of compiler_gym/llvm/ir2vec.h.

#include "compiler_gym/llvm/ir2vec.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

namespace {

Columns embed(const llvm::Ir2VecVocabulary& vocabulary, llvm::Module& module,
              llvm::Ir2VecKind kind) {
  const auto vectors =
      inspected(module, [&](const ::llvm::Module& ir) { return vocabulary.embed(ir, kind); });
  nb::dict columns;
  columns["names"] = texts(vectors.names);
  columns["functions"] = raw(vectors.functions);
  columns["program"] = raw(vectors.program);
  return columns;
}

}  // namespace

void bind_ir2vec(nb::module_& m) {
  using Vocabulary = llvm::Ir2VecVocabulary;
  nb::class_<Vocabulary>(m, "Ir2VecVocabulary", "A vocabulary of IR2Vec.")
      .def(nb::init<const std::string&>(), "path"_a,
           "Read LLVM's JSON form, or raise `BenchmarkInitError`.")
      .def_prop_ro("dimension", &Vocabulary::dimension, "The length of a vector.")
      .def(
          "symbolic",
          [](const Vocabulary& self, llvm::Module& module) {
            return embed(self, module, llvm::Ir2VecKind::Symbolic);
          },
          "module"_a,
          "Vectors of the functions, a row each, and their sum, as little-endian float64: the\n"
          "vector of an instruction combines its opcode, type and operands.")
      .def(
          "flow_aware",
          [](const Vocabulary& self, llvm::Module& module) {
            return embed(self, module, llvm::Ir2VecKind::FlowAware);
          },
          "module"_a, "Like `symbolic`, but an operand has the vector of its definition.");
}

}  // namespace compiler_gym::python
