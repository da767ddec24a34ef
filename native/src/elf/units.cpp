#include "compiler_gym/elf/units.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/Object/ELFObjectFile.h>

#include "compiler_gym/elf/file.h"

namespace compiler_gym::elf {

Units read_units(std::string_view data) {
  const llvm::MemoryBufferRef buffer(data, "file");
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!object) throw BadFile(llvm::toString(object.takeError()));
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(
      **object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
  Units units;
  for (const auto& unit : context->compile_units()) {
    const auto die = unit->getUnitDIE(/*ExtractUnitDIEOnly=*/true);
    if (!die) continue;
    const auto* name = die.getShortName();
    if (!name) name = llvm::dwarf::toString(die.find({llvm::dwarf::DW_AT_dwo_name,
                                                      llvm::dwarf::DW_AT_GNU_dwo_name}), nullptr);
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
    units.name.emplace_back(name ? name : "");
  }
  return units;
}

}  // namespace compiler_gym::elf
