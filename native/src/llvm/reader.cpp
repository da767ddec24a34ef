#include "reader.h"

#include <optional>

#include "compiler_gym/llvm/errors.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "target.h"

namespace compiler_gym::llvm {
namespace {

struct ErrorCollector : ::llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string& errors) : errors(errors) {}

  bool handleDiagnostics(const ::llvm::DiagnosticInfo& diagnostic) override {
    if (diagnostic.getSeverity() != ::llvm::DS_Error) return true;
    ::llvm::raw_string_ostream out(errors);
    ::llvm::DiagnosticPrinterRawOStream printer(out);
    diagnostic.print(printer);
    out << '\n';
    return true;
  }

  std::string& errors;
};

// Like `opt`: a module with a target but without a layout gets the layout of the target.
std::optional<std::string> infer_data_layout(::llvm::StringRef triple, ::llvm::StringRef layout) {
  if (!layout.empty() || triple.empty()) return std::nullopt;
  auto inferred = ::llvm::Triple(triple).computeDataLayout();
  if (inferred.empty()) return std::nullopt;  // `opt` warns, and uses LLVM's default layout
  return inferred;
}

std::unique_ptr<::llvm::Module> parse(std::string_view data, const std::string& name,
                                      ::llvm::LLVMContext& context) {
  // The text parser reads one byte past the end and expects a zero there.
  const auto buffer =
      ::llvm::MemoryBuffer::getMemBufferCopy(::llvm::StringRef(data.data(), data.size()), name);
  ::llvm::SMDiagnostic complaint;
  auto module = ::llvm::parseIR(buffer->getMemBufferRef(), complaint, context,
                                ::llvm::ParserCallbacks(infer_data_layout));
  if (module) {
    prepare_target(module->getTargetTriple());
    return module;
  }
  std::string message;
  ::llvm::raw_string_ostream out(message);
  complaint.print(nullptr, out, /*ShowColors=*/false);
  throw InitError(trimmed(message));
}

}  // namespace

std::string trimmed(const std::string& message) { return ::llvm::StringRef(message).trim().str(); }

void collect_errors(::llvm::LLVMContext& context, std::string& errors) {
  context.setDiscardValueNames(true);
  context.enableDebugTypeODRUniquing();
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
}

std::unique_ptr<::llvm::Module> read_module(std::string_view data, const std::string& name,
                                            ::llvm::LLVMContext& context) {
  if (data.empty())
    throw InitError("the file is empty, but must contain LLVM bitcode or textual IR");
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
  if (::llvm::isBitcode(bytes, bytes + data.size())) return parse(data, name, context);
  // Text can only be read with its names: the detour through bitcode drops them.
  std::string errors;
  const auto named = make_fragile<::llvm::LLVMContext>();
  named->enableDebugTypeODRUniquing();
  named->setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  const Fragile<::llvm::Module> read = parse(data, name, *named);
  return parse(bitcode_of(*read), name, context);
}

std::string find_invalid_ir(const ::llvm::Module& module) {
  std::string message;
  ::llvm::raw_string_ostream out(message);
  return ::llvm::verifyModule(module, &out) ? trimmed(message) : "";
}

std::string bitcode_of(const ::llvm::Module& module) {
  std::string bytes;
  ::llvm::raw_string_ostream out(bytes);
  ::llvm::WriteBitcodeToFile(module, out, /*ShouldPreserveUseListOrder=*/true);
  return bytes;
}

}  // namespace compiler_gym::llvm
