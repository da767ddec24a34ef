// LLVM's IR2Vec: vectors for programs and functions from a vocabulary.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

enum class Ir2VecKind { Symbolic, FlowAware };

struct Ir2VecVectors {
  std::vector<std::string> names;  // of the functions that have a body, in the module's order
  std::vector<double> functions;   // a row each
  std::vector<double> program;     // their sum
};

class Ir2VecVocabulary {
 public:
  // Read a vocabulary in LLVM's JSON form. Throws InitError with LLVM's message.
  explicit Ir2VecVocabulary(const std::string& path);
  ~Ir2VecVocabulary();
  Ir2VecVocabulary(Ir2VecVocabulary&&) noexcept;

  std::size_t dimension() const;
  Ir2VecVectors embed(const ::llvm::Module& module, Ir2VecKind kind) const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace compiler_gym::llvm
