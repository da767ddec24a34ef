#include "compiler_gym/llvm/machine.h"

#include <algorithm>
#include <map>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "simulator.h"

namespace compiler_gym::llvm {

using ::llvm::object::ELFObjectFileBase;
using ::llvm::object::ObjectFile;

namespace {

std::unique_ptr<ObjectFile> open(std::string_view object) {
  start();
  const ::llvm::MemoryBufferRef buffer(::llvm::StringRef(object.data(), object.size()), "object");
  auto file = ObjectFile::createObjectFile(buffer);
  if (!file) throw InitError(::llvm::toString(file.takeError()));
  if (!(*file)->isELF()) {
    throw UnsupportedError("machine code is read from ELF objects only, not from one for " +
                           (*file)->makeTriple().str());
  }
  return std::move(*file);
}

::llvm::ArrayRef<std::uint8_t> bytes_of(const ::llvm::object::SectionRef& section) {
  auto contents = section.getContents();
  if (!contents) throw InitError(::llvm::toString(contents.takeError()));
  return ::llvm::arrayRefFromStringRef(*contents);
}

struct Code {
  MachineBlock block;
  ::llvm::StringRef bytes;
  std::size_t instructions;
};

using Names = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;

// The names of functions by section and address.
Names names_of(const ObjectFile& file) {
  Names names;
  for (const auto& symbol : file.symbols()) {
    auto kind = symbol.getType();
    auto section = symbol.getSection();
    auto address = symbol.getValue();
    auto name = symbol.getName();
    if (!kind || !section || !address || !name) {
      throw InitError("the object's symbols cannot be read");
    }
    if (*kind != ::llvm::object::SymbolRef::ST_Function || *section == file.section_end()) continue;
    names.try_emplace({(*section)->getIndex(), *address}, name->str());
  }
  return names;
}

using ::llvm::object::BBAddrMap;

// The start addresses of the functions in a map, in its order. LLVM's reader uses the addend of a
// relocation as the address, which is right only if relocations name sections; RISC-V's name
// functions.
std::vector<std::uint64_t> starts_in(const ELFObjectFileBase& file, std::uint64_t section) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const ::llvm::object::SectionRef relocated : file.sections()) {
    auto place = relocated.getRelocatedSection();
    if (!place) throw InitError(::llvm::toString(place.takeError()));
    if (*place == file.section_end() ||
        ::llvm::object::ELFSectionRef(**place).getType() != ::llvm::ELF::SHT_LLVM_BB_ADDR_MAP) {
      continue;
    }
    for (const ::llvm::object::ELFRelocationRef relocation : relocated.relocations()) {
      const auto symbol = relocation.getSymbol();
      auto home = symbol->getSection();
      auto value = symbol->getValue();
      auto added = relocation.getAddend();
      if (!home || !value || !added) throw InitError("the object's relocations cannot be read");
      if ((*home)->getIndex() != section) continue;
      found.emplace_back(relocation.getOffset(), *value + *added);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::uint64_t> starts;
  for (const auto& [offset, start] : found) starts.push_back(start);
  return starts;
}

void put_in_place(std::vector<BBAddrMap>& maps, const std::vector<std::uint64_t>& starts) {
  std::size_t next = 0;
  for (auto& map : maps) {
    for (auto& range : map.BBRanges) {
      if (next == starts.size()) throw InitError("the object's map of blocks names no functions");
      range.BaseAddress = starts[next++];
    }
  }
}

std::vector<Code> blocks_of(const ELFObjectFileBase& file, Simulator& simulator) {
  std::vector<Code> found;
  const Names names = names_of(file);
  for (const ::llvm::object::SectionRef section : file.sections()) {
    if (!section.isText()) continue;
    std::vector<::llvm::object::PGOAnalysisMap> frequencies;
    auto maps = file.readBBAddrMap(section.getIndex(), &frequencies);
    if (!maps) throw InitError(::llvm::toString(maps.takeError()));
    if (file.makeTriple().isRISCV()) put_in_place(*maps, starts_in(file, section.getIndex()));
    const auto bytes = bytes_of(section);
    for (const auto& [map, frequency] : ::llvm::zip_equal(*maps, frequencies)) {
      if (frequency.BBEntries.empty()) continue;
      const auto entry = frequency.BBEntries.front().BlockFreq.getFrequency();
      const auto name = names.find({section.getIndex(), map.getFunctionAddress()});
      const std::string function = name == names.end() ? "" : name->second;
      std::size_t place = 0;
      for (const auto& range : map.getBBRanges()) {
        for (const auto& block : range.BBEntries) {
          const auto times = frequency.BBEntries[place++].BlockFreq.getFrequency();
          const auto address = range.BaseAddress + block.Offset;
          const auto code = bytes.slice(address, block.Size);
          const auto text = ::llvm::toStringRef(code);
          const double share = entry ? static_cast<double>(times) / static_cast<double>(entry) : 0;
          found.push_back({{function, section.getIndex(), address, block.Size, share, 0},
                           text,
                           simulator.count(code)});
        }
      }
    }
  }
  return found;
}

// The end of the hot blocks in a list sorted by heat.
std::size_t end_of_hot(const std::vector<Code>& blocks) {
  double total = 0, seen = 0;
  const auto weight = [](const Code& code) {
    return code.block.frequency * static_cast<double>(code.instructions);
  };
  for (const auto& code : blocks) total += weight(code);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (seen >= 0.99 * total) return i;
    seen += weight(blocks[i]);
  }
  return blocks.size();
}

}  // namespace

std::uint64_t count_machine_instructions(std::string_view object) {
  const auto file = open(object);
  Simulator simulator(file->makeTriple());
  std::uint64_t count = 0;
  for (const auto& section : file->sections()) {
    if (section.isText()) count += simulator.count(bytes_of(section));
  }
  return count;
}

std::vector<MachineBlock> estimate_blocks(std::string_view object) {
  const auto file = open(object);
  Simulator simulator(file->makeTriple());
  auto codes = blocks_of(*::llvm::cast<ELFObjectFileBase>(file.get()), simulator);
  std::stable_sort(codes.begin(), codes.end(), [](const Code& a, const Code& b) {
    return a.block.frequency * static_cast<double>(a.instructions) >
           b.block.frequency * static_cast<double>(b.instructions);
  });
  const auto hot = end_of_hot(codes);
  ::llvm::StringMap<double> known;  // many blocks have the same bytes
  std::vector<MachineBlock> blocks;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    auto& [block, bytes, instructions] = codes[i];
    if (i < hot) {
      const auto [place, is_new] = known.try_emplace(bytes, 0.0);
      if (is_new) place->second = simulator.cycles(::llvm::arrayRefFromStringRef(bytes));
      block.cycles = place->second;
    } else {
      block.cycles = static_cast<double>(instructions) / simulator.width();
    }
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace compiler_gym::llvm
