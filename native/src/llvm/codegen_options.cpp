#include "compiler_gym/llvm/codegen_options.h"

#include <algorithm>

#include "codegen_table.h"
#include "compiler_gym/llvm/errors.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::StringRef;

std::vector<CodegenOption> read_table() {
  std::vector<CodegenOption> options;
  bool is_heading = true;
  for (const StringRef line : ::llvm::split(codegen_table, '\n')) {
    if (line.empty() || line.starts_with("#")) continue;
    if (std::exchange(is_heading, false)) continue;
    const auto [name, rest] = line.split('\t');
    CodegenOption option{name.str(), {}};
    for (const StringRef value : ::llvm::split(rest.split('\t').first, '|')) {
      option.values.push_back(value.str());
    }
    options.push_back(std::move(option));
  }
  return options;
}

// The error for an invalid choice; empty if it is valid.
std::string refusal(StringRef name, StringRef value) {
  const auto& options = codegen_options();
  const auto option = std::find_if(options.begin(), options.end(),
                                   [&](const CodegenOption& one) { return one.name == name; });
  if (option == options.end()) {
    return ("'" + ::llvm::Twine(name) + "' is not a supported option of the code generator").str();
  }
  if (::llvm::is_contained(option->values, value)) return "";
  return ("'" + ::llvm::Twine(value) + "' is not a value of -" + name + ": use one of " +
          default_value + ", " + ::llvm::join(option->values, ", "))
      .str();
}

}  // namespace

const std::vector<CodegenOption>& codegen_options() {
  static const std::vector<CodegenOption> options = read_table();
  return options;
}

ChosenOptions read_chosen_options(const ::llvm::Module& module) {
  ChosenOptions chosen;
  const auto* node = module.getNamedMetadata(codegen_node);
  if (node == nullptr) return chosen;
  // Linked modules contribute a node each: the last one counts.
  for (const auto* texts : node->operands()) {
    for (const auto& operand : texts->operands()) {
      const auto* text = ::llvm::dyn_cast_or_null<::llvm::MDString>(operand.get());
      if (text == nullptr) {
        throw UnsupportedError(std::string("!") + codegen_node +
                               " contains an operand that is not text");
      }
      const auto [name, value] = text->getString().split('=');
      const auto wrong = refusal(name, value);
      if (!wrong.empty()) throw UnsupportedError(std::string("!") + codegen_node + ": " + wrong);
      chosen[name.str()] = value.str();
    }
  }
  return chosen;
}

bool choose_options(::llvm::Module& module, const ChosenOptions& chosen) {
  auto& context = module.getContext();
  auto* const known = module.getNamedMetadata(codegen_node);
  ::llvm::SmallVector<::llvm::Metadata*> texts;
  for (const auto& [name, value] : chosen) {
    texts.push_back(::llvm::MDString::get(context, name + "=" + value));
  }
  auto* const wanted = texts.empty() ? nullptr : ::llvm::MDNode::get(context, texts);
  if (known == nullptr && wanted == nullptr) return false;
  if (known != nullptr && known->getNumOperands() == 1 && known->getOperand(0) == wanted) {
    return false;
  }
  if (known != nullptr) module.eraseNamedMetadata(known);
  if (wanted != nullptr) module.getOrInsertNamedMetadata(codegen_node)->addOperand(wanted);
  return true;
}

void read_options(std::string_view text, ChosenOptions& chosen) {
  for (const StringRef part : ::llvm::split(StringRef(text.data(), text.size()), ';')) {
    if (part == "reset") {
      chosen.clear();
      continue;
    }
    const auto [name, value] = part.split('=');
    if (value == default_value) {
      const auto known = refusal(name, "");
      if (known.find("is not a supported option") != std::string::npos) throw PipelineError(known);
      chosen.erase(name.str());
      continue;
    }
    const auto wrong = refusal(name, value);
    if (!wrong.empty()) throw PipelineError(wrong);
    chosen[name.str()] = value.str();
  }
}

}  // namespace compiler_gym::llvm
