#include "compiler_gym/llvm/hash.h"

#include <cstring>

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

namespace compiler_gym::llvm {

IrHash hash_of(const ::llvm::Module& module) {
  std::string bytes;
  ::llvm::raw_string_ostream out(bytes);
  ::llvm::WriteBitcodeToFile(module, out, true);
  const auto h = ::llvm::xxh3_128bits(
      ::llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  IrHash result;
  std::memcpy(result.data(), &h.low64, 8);
  std::memcpy(result.data() + 8, &h.high64, 8);
  return result;
}

}  // namespace compiler_gym::llvm
