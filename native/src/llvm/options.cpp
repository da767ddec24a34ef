#include "options.h"

#include <map>
#include <mutex>

#include "compiler_gym/llvm/errors.h"
#include "llvm/Support/CommandLine.h"

namespace compiler_gym::llvm {

void set_option(const std::string& name, const std::string& value) {
  static std::mutex lock;
  static std::map<std::string, std::string> values;
  const std::lock_guard<std::mutex> guard(lock);
  const auto known = values.find(name);
  if (known != values.end() && known->second == value) return;
  auto* const option = ::llvm::cl::getRegisteredOptions().lookup(name);
  if (!option) throw UnsupportedError("this LLVM has no option -" + name);
  values.erase(name);
  option->reset();
  if (option->addOccurrence(0, name, value)) {
    throw UnsupportedError("LLVM refuses the value '" + value + "' of its option -" + name);
  }
  values[name] = value;
}

}  // namespace compiler_gym::llvm
