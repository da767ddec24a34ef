#include "compiler_gym/llvm/ir2vec.h"

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/IR2Vec.h"
#include "llvm/IR/Module.h"
#include "options.h"
#include "reader.h"

namespace compiler_gym::llvm {

struct Ir2VecVocabulary::Held {
  ::llvm::ir2vec::Vocabulary vocabulary;
};

Ir2VecVocabulary::Ir2VecVocabulary(const std::string& path) {
  start();
  // LLVM reads it only from this option.
  const OtherOptions alone(OptionValues{{"ir2vec-vocab-path", path}});
  std::string errors;
  const auto context = make_fragile<::llvm::LLVMContext>();
  collect_errors(*context, errors);
  const auto module = make_fragile<::llvm::Module>("vocabulary", *context);
  const auto analyses = make_fragile<::llvm::ModuleAnalysisManager>();
  held_ = std::make_unique<Held>(::llvm::IR2VecVocabAnalysis().run(*module, *analyses));
  if (!held_->vocabulary.isValid()) {
    throw InitError(errors.empty() ? "not a vocabulary of IR2Vec: " + path : trimmed(errors));
  }
}

Ir2VecVocabulary::~Ir2VecVocabulary() = default;
Ir2VecVocabulary::Ir2VecVocabulary(Ir2VecVocabulary&&) noexcept = default;

std::size_t Ir2VecVocabulary::dimension() const { return held_->vocabulary.getDimension(); }

Ir2VecVectors Ir2VecVocabulary::embed(const ::llvm::Module& module, Ir2VecKind kind) const {
  Ir2VecVectors vectors;
  vectors.program.resize(dimension());
  const auto mode =
      kind == Ir2VecKind::Symbolic ? ::llvm::IR2VecKind::Symbolic : ::llvm::IR2VecKind::FlowAware;
  for (const auto& function : module) {
    if (function.isDeclaration()) continue;
    const auto embedder = ::llvm::ir2vec::Embedder::create(mode, function, held_->vocabulary);
    if (!embedder) throw UnsupportedError("this LLVM has no such kind of IR2Vec");
    const auto found = embedder->getFunctionVector();
    vectors.names.push_back(function.getName().str());
    vectors.functions.insert(vectors.functions.end(), found.begin(), found.end());
    for (std::size_t i = 0; i < dimension(); ++i) vectors.program[i] += found[i];
  }
  return vectors;
}

}  // namespace compiler_gym::llvm
