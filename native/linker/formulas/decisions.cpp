#include "formulas/decisions.h"

#include <llvm/Support/LineIterator.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <cstdlib>

#include "inputs.h"
#include "switches.h"

namespace compiler_gym::linker {
namespace {

constexpr std::size_t most_bytes = 1 << 16;

#define NAME(name, description) #name,
constexpr llvm::StringLiteral inline_names[] = {INLINE_INPUTS(NAME) CALL_INPUTS(NAME)};
constexpr llvm::StringLiteral call_names[] = {CALL_INPUTS(NAME)};
constexpr llvm::StringLiteral function_names[] = {FUNCTION_INPUTS(NAME) SETTING_INPUTS(NAME)};
constexpr llvm::StringLiteral setting_names[] = {SETTING_INPUTS(NAME)};
#undef NAME

[[noreturn]] void refuse(const llvm::Twine& problem) {
  llvm::errs() << "compiler_gym_size: " << problem << '\n';
  std::exit(1);
}

Decisions read_decisions(const std::string& path) {
  Decisions decisions;
  if (path.empty()) return decisions;
  const auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) refuse("cannot read the rule file '" + path + "'");
  if ((*file)->getBufferSize() > most_bytes) refuse("the rule file '" + path + "' is too long");
  for (llvm::line_iterator line(**file, true, '#'); !line.is_at_end(); ++line) {
    auto [key, text] = line->split('=');
    key = key.trim();
    const llvm::ArrayRef<llvm::StringLiteral> all = function_names;
    const auto read = [&](std::optional<Formula>& formula,
                          llvm::ArrayRef<llvm::StringLiteral> names) {
      formula.emplace(text, names);
      if (!formula->error().empty())
        refuse("cannot read the rule '" + key + "': " + formula->error());
    };
    if (key == "inline")
      read(decisions.inline_call, inline_names);
    else if (key == "order")
      read(decisions.order, call_names);
    else if (key == "frame")
      read(decisions.frame, all.drop_back(std::size(setting_names)));
    else if (key == "outline")
      read(decisions.outline, all.drop_back(std::size(setting_names)));
    else if (key == "choose")
      read(decisions.choose, all);
    else
      refuse("no decision '" + key + "'; use inline, order, frame, outline or choose");
  }
  return decisions;
}

}  // namespace

const Decisions& Decisions::get() {
  static const Decisions decisions = read_decisions(Switches::get().decisions_path());
  return decisions;
}

}  // namespace compiler_gym::linker
