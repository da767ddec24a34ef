#include "compiler_gym/jit/code.h"

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler_gym/jit/errors.h"
#include "compiler_gym/jit/pool.h"
#include "compiler_gym/jit/target.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm_start.h"

namespace compiler_gym::jit {
namespace {

using llvm::orc::ExecutorAddr;
using llvm::orc::LLJIT;

// The linker's last message on this thread: the error of a lookup names only the dependent symbols.
thread_local std::string reported;

std::string told(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  if (!reported.empty()) text = std::exchange(reported, "") + "; " + text;
  return text;
}

template <typename T>
T checked(llvm::Expected<T> value) {
  if (!value) throw LinkError(told(value.takeError()));
  return static_cast<T&&>(*value);
}

void check(llvm::Error error) {
  if (error) throw LinkError(told(std::move(error)));
}

// Link every module into a separate library. Never destroyed: code may outlive the objects that a
// process destroys at its end.
LLJIT& linker() {
  static LLJIT* jit = [] {
    llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(host_triple())};
    auto made = checked(llvm::orc::LLJITBuilder()
                            .setJITTargetMachineBuilder(std::move(builder))
                            .setNumCompileThreads(0)
                            .create());
    made->getExecutionSession().setErrorReporter(
        [](llvm::Error error) { reported = llvm::toString(std::move(error)); });
    return made.release();
  }();
  return *jit;
}

double since(std::chrono::steady_clock::time_point& last) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - last).count();
  last = now;
  return seconds;
}

// Generates code for one module after the other: building its list of passes takes longer than
// running it on a short module.
struct Generator {
  std::unique_ptr<llvm::LLVMContext> context = make_context();
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  llvm::legacy::PassManager passes;
  std::unique_ptr<llvm::Module> module;
  int uses = 0;

  explicit Generator(int level) : machine(machine_for("", "", "", level)) {
    llvm::MCContext* labels = nullptr;
    if (machine->addPassesToEmitMC(passes, labels, stream)) {
      throw TargetError("cannot generate code for this machine");
    }
  }
};

// The constants of a context live as long as it does, so a generator is replaced after this many
// uses.
constexpr int most_uses = 64;

// Unused generators, by level. Never destroyed, see `linker`.
struct Idle {
  std::mutex mutex;
  std::map<int, std::vector<Fragile<Generator>>> generators;
};

Idle& idle() {
  static Idle* made = new Idle;
  return *made;
}

Fragile<Generator> take_generator(int level) {
  {
    std::lock_guard lock(idle().mutex);
    auto& waiting = idle().generators[level];
    if (!waiting.empty()) {
      auto generator = std::move(waiting.back());
      waiting.pop_back();
      return generator;
    }
  }
  return make_fragile<Generator>(level);
}

void give_generator(int level, Fragile<Generator> generator) {
  if (++generator->uses >= most_uses) return;
  std::lock_guard lock(idle().mutex);
  idle().generators[level].push_back(std::move(generator));
}

llvm::SmallVector<char, 0> object_of(const std::string& ir, int level, Stages& stages) {
  auto last = std::chrono::steady_clock::now();
  auto generator = take_generator(level);
  generator->module = read_text(ir, *generator->context);
  aim(*generator->module, *generator->machine);
  stages.read = since(last);
  optimise(*generator->module, *generator->machine, level);
  stages.optimise = since(last);
  generator->passes.run(*generator->module);
  generator->module.reset();
  stages.generate = since(last);
  auto bytes = std::exchange(generator->bytes, {});
  give_generator(level, std::move(generator));
  return bytes;
}

}  // namespace

struct Code::Library {
  llvm::orc::JITDylib* dylib = nullptr;
  std::size_t size = 0;
  Stages stages;

  ~Library() {
    if (dylib == nullptr) return;
    const InLlvm in_llvm;
    llvm::consumeError(linker().getExecutionSession().removeJITDylib(*dylib));
  }
};

Code::Code(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Code::~Code() = default;

std::shared_ptr<const Code> Code::compile(const std::string& ir, int level,
                                          const Symbols& symbols) {
  static std::atomic<std::uint64_t> number = 0;
  const InLlvm in_llvm;
  start_llvm();
  auto library = std::make_unique<Library>();
  auto bytes = object_of(ir, level, library->stages);
  auto last = std::chrono::steady_clock::now();
  library->size = bytes.size();
  auto& jit = linker();
  const std::string name = "code" + std::to_string(number++);
  library->dylib = &checked(jit.createJITDylib(name));
  llvm::orc::SymbolMap known;
  known[jit.mangleAndIntern("compiler_gym_parallel_for")] = {
      ExecutorAddr::fromPtr(&compiler_gym_parallel_for), llvm::JITSymbolFlags::Exported};
  known[jit.mangleAndIntern("compiler_gym_scratch")] = {
      ExecutorAddr::fromPtr(&compiler_gym_scratch), llvm::JITSymbolFlags::Exported};
  for (const auto& [symbol, address] : symbols) {
    known[jit.mangleAndIntern(symbol)] = {ExecutorAddr(address), llvm::JITSymbolFlags::Exported};
  }
  check(library->dylib->define(llvm::orc::absoluteSymbols(std::move(known))));
  check(jit.addObjectFile(*library->dylib, std::make_unique<llvm::SmallVectorMemoryBuffer>(
                                               std::move(bytes), name, false)));
  check(jit.initialize(*library->dylib));
  library->stages.link = since(last);
  return std::shared_ptr<const Code>(new Code(std::move(library)));
}

std::uintptr_t Code::address(const std::string& name) const {
  const InLlvm in_llvm;
  return static_cast<std::uintptr_t>(checked(linker().lookup(*library_->dylib, name)).getValue());
}

std::size_t Code::size() const { return library_->size; }

const Stages& Code::stages() const { return library_->stages; }

namespace {

using Request = std::tuple<std::string, int, Symbols>;

constexpr std::size_t most_kept = 128;

struct Cache {
  std::mutex mutex;
  std::list<std::pair<Request, std::shared_ptr<const Code>>> kept;  // most recently used first
  std::map<Request, decltype(kept)::iterator> places;
  CacheUse use;
};

Cache& cache() {
  static Cache* made = new Cache;
  return *made;
}

}  // namespace

std::shared_ptr<const Code> compile_cached(const std::string& ir, int level,
                                           const Symbols& symbols) {
  const InLlvm in_llvm;
  auto& all = cache();
  Request request{ir, level, symbols};
  {
    std::lock_guard lock(all.mutex);
    if (auto place = all.places.find(request); place != all.places.end()) {
      ++all.use.hits;
      all.kept.splice(all.kept.begin(), all.kept, place->second);
      return place->second->second;
    }
    ++all.use.misses;
  }
  auto code = Code::compile(ir, level, symbols);
  std::lock_guard lock(all.mutex);
  if (all.places.contains(request)) return code;
  all.kept.emplace_front(request, code);
  all.places.emplace(std::move(request), all.kept.begin());
  if (all.kept.size() > most_kept) {
    all.places.erase(all.kept.back().first);
    all.kept.pop_back();
  }
  return code;
}

CacheUse cache_use() {
  const InLlvm in_llvm;
  auto& all = cache();
  std::lock_guard lock(all.mutex);
  return all.use;
}

void clear_cache() {
  const InLlvm in_llvm;
  auto& all = cache();
  std::lock_guard lock(all.mutex);
  all.places.clear();
  all.kept.clear();
}

}  // namespace compiler_gym::jit
