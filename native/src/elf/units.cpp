#include "compiler_gym/elf/units.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/Object/Decompressor.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/Endian.h>

#include <utility>

#include "compiler_gym/elf/file.h"

namespace compiler_gym::elf {

namespace {

using Buffers = llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>>;

// Above the expansion of any debug information: zeros compress to a thousandth.
constexpr std::uint64_t most_expansion = 64;

std::unique_ptr<llvm::MemoryBuffer> expand(llvm::StringRef name, llvm::StringRef data,
                                           const File& file) {
  auto packed = llvm::object::Decompressor::create(name, data, file.little, file.bits == 64);
  if (!packed || packed->getDecompressedSize() > data.size() * most_expansion) {
    llvm::consumeError(packed.takeError());
    return nullptr;
  }
  llvm::SmallVector<char, 0> contents;
  if (auto error = packed->resizeAndDecompress(contents)) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  return llvm::MemoryBuffer::getMemBufferCopy({contents.data(), contents.size()}, name);
}

// The format of older GNU tools: letters, the big-endian size, and zlib's bytes.
std::unique_ptr<llvm::MemoryBuffer> expand_old(llvm::StringRef name, llvm::StringRef data) {
  if (!data.consume_front("ZLIB") || data.size() < 8) return nullptr;
  const auto size = llvm::support::endian::read64be(data.data());
  data = data.drop_front(8);
  llvm::SmallVector<std::uint8_t, 0> contents;
  if (size > data.size() * most_expansion || !llvm::compression::zlib::isAvailable())
    return nullptr;
  if (auto error =
          llvm::compression::zlib::decompress(llvm::arrayRefFromStringRef(data), contents, size)) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  return llvm::MemoryBuffer::getMemBufferCopy(llvm::toStringRef(contents), name);
}

// LLVM's own class for whole files ends the process if a header is damaged; `read_file` throws.
Buffers find_debug(std::string_view data, const File& file) {
  Buffers buffers;
  const auto& sections = file.sections;
  for (std::size_t i = 0; i < sections.name.size(); ++i) {
    llvm::StringRef name = sections.name[i];
    const bool is_old = name.consume_front(".zdebug_");
    if (!is_old && !name.consume_front(".debug_")) continue;
    if (sections.kind[i] == llvm::ELF::SHT_NOBITS) continue;
    if (sections.offset[i] > data.size()) continue;
    const llvm::StringRef contents = data.substr(sections.offset[i], sections.size[i]);
    const auto key = ("debug_" + name).str();
    auto buffer = is_old ? expand_old(key, contents)
                  : sections.flags[i] & llvm::ELF::SHF_COMPRESSED
                      ? expand(key, contents, file)
                      : llvm::MemoryBuffer::getMemBuffer(contents, key, false);
    if (buffer) buffers[key] = std::move(buffer);
  }
  return buffers;
}

}  // namespace

Units read_units(std::string_view data) {
  const auto file = read_file(data);
  const auto buffers = find_debug(data, file);
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context =
      llvm::DWARFContext::create(buffers, file.bits / 8, file.little, ignore, ignore);
  Units units;
  for (const auto& unit : context->compile_units()) {
    const auto die = unit->getUnitDIE(/*ExtractUnitDIEOnly=*/true);
    if (!die) continue;
    const auto split = {llvm::dwarf::DW_AT_dwo_name, llvm::dwarf::DW_AT_GNU_dwo_name};
    const auto* name = die.getShortName();
    if (!name) name = llvm::dwarf::toString(die.find(split), "");
    auto ranges = die.getAddressRanges();
    if (!ranges) {
      llvm::consumeError(ranges.takeError());
      continue;
    }
    for (const auto& range : *ranges) {
      units.unit.push_back(units.name.size());
      units.low.push_back(range.LowPC);
      units.high.push_back(range.HighPC);
    }
    units.name.emplace_back(name);
  }
  return units;
}

}  // namespace compiler_gym::elf
