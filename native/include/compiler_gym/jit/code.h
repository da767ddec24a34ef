// Machine code from textual LLVM IR, in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace compiler_gym::jit {

using Symbols = std::map<std::string, std::uintptr_t>;

// The wall-clock seconds of each stage.
struct Stages {
  double read = 0, optimise = 0, generate = 0, link = 0;
};

// The functions of one module. Addresses are valid as long as this object lives.
class Code {
 public:
  // `level` 0 to 3 runs the default pipeline of that level before code generation; -1 runs no
  // passes. Functions that the module only declares are looked up among `symbols`, then in the
  // process; `compiler_gym_parallel_for` of pool.h is always available.
  static std::shared_ptr<const Code> compile(const std::string& ir, int level,
                                             const Symbols& symbols = {});
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  // The address of a function or variable with external linkage. Throws LinkError.
  std::uintptr_t address(const std::string& name) const;
  // The size of the object file in bytes.
  std::size_t size() const;
  const Stages& stages() const;

 private:
  struct Library;
  explicit Code(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

// The same, with a cache of the last few requests.
std::shared_ptr<const Code> compile_cached(const std::string& ir, int level,
                                           const Symbols& symbols = {});
// The numbers of cache hits and misses.
struct CacheUse {
  std::uint64_t hits = 0, misses = 0;
};
CacheUse cache_use();
void clear_cache();

}  // namespace compiler_gym::jit
