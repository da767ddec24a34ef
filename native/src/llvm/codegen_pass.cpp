#include "codegen_pass.h"

#include "compiler_gym/llvm/codegen_options.h"
#include "compiler_gym/llvm/errors.h"
#include "llvm/IR/LLVMContext.h"

namespace compiler_gym::llvm {
namespace {

class CodegenOptionsPass : public ::llvm::PassInfoMixin<CodegenOptionsPass> {
 public:
  explicit CodegenOptionsPass(std::string text) : text_(std::move(text)) {}

  ::llvm::PreservedAnalyses run(::llvm::Module& module, ::llvm::ModuleAnalysisManager&) {
    // Exceptions must not unwind through LLVM: it would not finish its work.
    try {
      auto chosen = read_chosen_options(module);
      read_options(text_, chosen);
      return choose_options(module, chosen) ? ::llvm::PreservedAnalyses::none()
                                            : ::llvm::PreservedAnalyses::all();
    } catch (const UnsupportedError& error) {
      module.getContext().emitError(error.what());
      return ::llvm::PreservedAnalyses::all();
    }
  }

  static bool isRequired() { return true; }

 private:
  std::string text_;
};

}  // namespace

void register_codegen_pass(::llvm::PassBuilder& builder) {
  builder.registerPipelineParsingCallback(
      [](::llvm::StringRef name, ::llvm::ModulePassManager& passes,
         ::llvm::ArrayRef<::llvm::PassBuilder::PipelineElement> inner) {
        if (!inner.empty() || !name.consume_front("codegen<") || !name.consume_back(">")) {
          return false;
        }
        ChosenOptions checked;
        read_options(std::string_view(name.data(), name.size()), checked);
        passes.addPass(CodegenOptionsPass(name.str()));
        return true;
      });
}

}  // namespace compiler_gym::llvm
