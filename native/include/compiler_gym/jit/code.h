// Machine code of textual LLVM IR, in this process. What it computes is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace compiler_gym::jit {

using Symbols = std::map<std::string, std::uintptr_t>;

// Seconds of wall time that each stage took.
struct Stages {
  double read = 0, optimise = 0, generate = 0, link = 0;
};

// The functions of one module. It lives as long as somebody holds it; so does every address.
class Code {
 public:
  // `level` 0 to 3 runs the default pipeline of that level before code is made; -1 runs no pass at
  // all. Functions that the module only declares are looked up among `symbols`, then in the
  // process; `compiler_gym_parallel_for` of pool.h is there always.
  static std::shared_ptr<const Code> compile(const std::string& ir, int level,
                                             const Symbols& symbols = {});
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  // Where a function or variable of external linkage is. Throws LinkError.
  std::uintptr_t address(const std::string& name) const;
  // Bytes of the object file.
  std::size_t size() const;
  const Stages& stages() const;

 private:
  struct Library;
  explicit Code(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

// The same, but an equal request is compiled once as long as it is among the last few.
std::shared_ptr<const Code> compile_cached(const std::string& ir, int level,
                                           const Symbols& symbols = {});
// How many requests the cache has answered and has not.
struct CacheUse {
  std::uint64_t hits = 0, misses = 0;
};
CacheUse cache_use();
void clear_cache();

}  // namespace compiler_gym::jit
