#include "compiler_gym/elf/frames.h"

#include <llvm/ADT/SmallSet.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/DebugInfo/DWARF/DWARFDataExtractor.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugFrame.h>

#include <algorithm>

namespace compiler_gym::elf {

namespace {

using llvm::dwarf::FDE;

std::uint64_t count_saved(const FDE& entry) {
  llvm::SmallSet<std::uint64_t, 8> registers;
  for (const auto& step : entry.cfis()) {
    if (step.Opcode == llvm::dwarf::DW_CFA_offset) registers.insert(step.Ops[0]);
  }
  return registers.size();
}

// The lowest landing pad in the table at `address`, or 0: the call sites, in the layout of
// Itanium's ABI for C++ exceptions.
std::uint64_t find_landing(std::uint64_t address, std::uint64_t function, Loaded tables,
                           Layout layout) {
  if (address < tables.address || address - tables.address >= tables.data.size()) return 0;
  const llvm::DWARFDataExtractor data(tables.data, layout.is_little, layout.address_size);
  std::uint64_t at = address - tables.address;
  const auto start_encoding = data.getU8(&at);
  auto start = function;
  if (start_encoding != llvm::dwarf::DW_EH_PE_omit) {
    start = data.getEncodedPointer(&at, start_encoding, tables.address + at).value_or(0);
  }
  if (data.getU8(&at) != llvm::dwarf::DW_EH_PE_omit) data.getULEB128(&at);
  const auto encoding = data.getU8(&at);
  const auto size = data.getULEB128(&at);
  if (size > tables.data.size() - std::min<std::uint64_t>(at, tables.data.size())) return 0;
  std::uint64_t lowest = 0;
  for (const auto end = at + size; at < end;) {
    const auto before = at;
    data.getEncodedPointer(&at, encoding, 0);
    data.getEncodedPointer(&at, encoding, 0);
    const auto pad = data.getEncodedPointer(&at, encoding, 0);
    data.getULEB128(&at);
    if (!pad || at <= before) return 0;  // an encoding that cannot be read
    if (*pad && (!lowest || start + *pad < lowest)) lowest = start + *pad;
  }
  return lowest;
}

}  // namespace

Frames read_frames(Loaded frames, Loaded tables, Layout layout) {
  const llvm::DWARFDataExtractor data(frames.data, layout.is_little, layout.address_size);
  llvm::DWARFDebugFrame entries(llvm::Triple::UnknownArch, /*IsEH=*/true, frames.address);
  llvm::consumeError(entries.parse(data));
  Frames result;
  for (const auto& entry : entries) {
    const auto* fde = llvm::dyn_cast<FDE>(&entry);
    if (!fde) continue;
    const auto length = fde->getLength();
    const auto left = frames.data.size() - std::min(frames.data.size(), fde->getOffset() + 4);
    if (length > left) continue;  // LLVM keeps the part of an entry that it has read
    result.offset.push_back(fde->getOffset());
    result.size.push_back(length + 4);
    result.function.push_back(fde->getInitialLocation());
    result.function_size.push_back(fde->getAddressRange());
    result.saved.push_back(count_saved(*fde));
    const auto table = fde->getLSDAAddress().value_or(0);
    result.tables.push_back(table);
    result.landing.push_back(table ? find_landing(table, fde->getInitialLocation(), tables, layout)
                                   : 0);
  }
  return result;
}

}  // namespace compiler_gym::elf
