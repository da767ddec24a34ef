#include "compiler_gym/llvm/plugins.h"

#include <dlfcn.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Plugins/PassPlugin.h"
#include "pass_runner.h"
#include "plugins.h"

namespace compiler_gym::llvm {
namespace {

using Register = void (*)(::llvm::PassBuilder&);

// Filled before the first module is created.
std::vector<Register>& registrations() {
  static std::vector<Register> loaded;
  return loaded;
}

// The only plug-in to query; -1 queries all. Like the list, it changes only before modules exist.
int asked = -1;

const std::string shared_library =
    "libLLVM.so." + std::to_string(LLVM_VERSION_MAJOR) + "." + std::to_string(LLVM_VERSION_MINOR);

std::string reason() {
  const char* const text = dlerror();
  return text ? text : "no reason given";
}

}  // namespace

bool shares_llvm() {
  // Succeeds only if the library is loaded already; makes it visible to libraries loaded later.
  return dlopen(shared_library.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != nullptr;
}

std::string load_plugin(const std::string& path) {
  start();
  if (!shares_llvm()) {
    throw PluginError("this engine does not share " + shared_library + " with plug-ins");
  }
  // A constructor of the plug-in can make LLVM abort, which is an exception here. The C library
  // declares that `dlopen` throws nothing, so the compiler must not see which function it calls.
  void* (*volatile open)(const char*, int) = dlopen;
  // Bind all symbols now: otherwise a missing one ends the process when it is first called.
  void* const library = open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw PluginError(path + " cannot be loaded by LLVM " LLVM_VERSION_STRING ": " + reason());
  }
  using Entry = ::llvm::PassPluginLibraryInfo (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "llvmGetPassPluginInfo"));
  if (!entry) {
    throw PluginError(path + " is not an LLVM plug-in: it has no llvmGetPassPluginInfo");
  }
  const auto plugin = entry();
  if (plugin.APIVersion != LLVM_PLUGIN_API_VERSION) {
    throw PluginError(path + " was built for version " + std::to_string(plugin.APIVersion) +
                      " of the plug-in interface, and LLVM " LLVM_VERSION_STRING " has version " +
                      std::to_string(LLVM_PLUGIN_API_VERSION) + ": build it with its headers");
  }
  registrations().push_back(plugin.RegisterPassBuilderCallbacks
                                ? plugin.RegisterPassBuilderCallbacks
                                : +[](::llvm::PassBuilder&) {});
  return plugin.PluginName ? plugin.PluginName : "";
}

void add_plugin_passes(::llvm::PassBuilder& builder) {
  for (std::size_t i = 0; i < registrations().size(); ++i) {
    if (asked < 0 || i == static_cast<std::size_t>(asked)) registrations()[i](builder);
  }
}

std::string find_pipeline(const std::string& pass, int plugin) {
  asked = plugin;
  const ::llvm::scope_exit query_all([] { asked = -1; });
  start();
  // Parsed but not run: a pass may do anything.
  PassRunner runner(nullptr, ::llvm::Triple("x86_64-pc-linux-gnu"), {}, add_plugin_passes);
  std::string refusal;
  // In a list, a pass stands alone only if it is a module pass: LLVM guesses the unit of a single
  // one.
  for (const auto& [before, after] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"cgscc(", ")"},
                                                        {"function(", ")"},
                                                        {"function(loop(", "))"},
                                                        {"function(loop-mssa(", "))"}}) {
    try {
      const std::string text = before + pass + after;
      runner.parse("no-op-module," + text);
      return text;
    } catch (const PipelineError& error) {
      if (refusal.empty()) refusal = error.what();
    }
  }
  throw PipelineError(refusal);
}

}  // namespace compiler_gym::llvm
