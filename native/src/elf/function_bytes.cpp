#include "compiler_gym/elf/function_bytes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/DataExtractor.h>

namespace compiler_gym::elf {
namespace {

namespace object = llvm::object;
using Bytes = llvm::StringMap<std::uint64_t>;

class BytesReader {
 public:
  explicit BytesReader(const object::ELFObjectFileBase& file) : file_(file) {}

  llvm::Expected<Bytes> read();

 private:
  llvm::Error read_code();
  llvm::Error read_tables(const object::ELFSectionRef&);
  llvm::Error read_unwind_entries(const object::SectionRef& relocations);

  const object::ELFObjectFileBase& file_;
  llvm::DenseMap<std::uint64_t, std::uint64_t> bytes_;  // of sections
  Bytes sections_;                                      // of names; aliases share one
  llvm::DenseSet<std::uint64_t> shared_;
};

llvm::Expected<Bytes> BytesReader::read() {
  if (llvm::Error error = read_code()) return error;
  for (const object::ELFSectionRef section : file_.sections()) {
    if (llvm::Error error = read_tables(section)) return error;
    if (llvm::Error error = read_unwind_entries(section)) return error;
  }
  Bytes bytes;
  for (const auto& [name, section] : sections_)
    if (!shared_.contains(section)) bytes[name] = bytes_[section];
  return bytes;
}

llvm::Error BytesReader::read_code() {
  for (const object::ELFSymbolRef symbol : file_.symbols()) {
    auto type = symbol.getType();
    auto name = symbol.getName();
    auto section = symbol.getSection();
    if (!type) return type.takeError();
    if (!name) return name.takeError();
    if (!section) return section.takeError();
    if (*type != object::SymbolRef::ST_Function || *section == file_.section_end()) continue;
    auto value = symbol.getValue();
    if (!value) return value.takeError();
    const std::uint64_t index = (*section)->getIndex();
    sections_[*name] = index;
    bytes_[index] = (*section)->getSize();
    if (*value != 0) shared_.insert(index);
  }
  return llvm::Error::success();
}

llvm::Error BytesReader::read_tables(const object::ELFSectionRef& section) {
  auto name = section.getName();
  if (!name) return name.takeError();
  if (section.getFlags() & llvm::ELF::SHF_MERGE) return llvm::Error::success();
  for (llvm::StringRef prefix : {".gcc_except_table.", ".rodata."})
    if (name->consume_front(prefix))
      if (const auto found = sections_.find(*name); found != sections_.end())
        bytes_[found->second] += section.getSize();
  return llvm::Error::success();
}

llvm::Error BytesReader::read_unwind_entries(const object::SectionRef& relocations) {
  auto section = relocations.getRelocatedSection();
  if (!section) return section.takeError();
  if (*section == file_.section_end()) return llvm::Error::success();
  auto name = (*section)->getName();
  if (!name) return name.takeError();
  if (*name != ".eh_frame") return llvm::Error::success();
  auto contents = (*section)->getContents();
  if (!contents) return contents.takeError();
  llvm::DenseMap<std::uint64_t, std::uint64_t> functions;  // the section at each place
  for (const object::RelocationRef relocation : relocations.relocations()) {
    auto target = relocation.getSymbol()->getSection();
    if (!target) return target.takeError();
    if (*target != file_.section_end())
      if (const std::uint64_t index = (*target)->getIndex(); bytes_.contains(index))
        functions[relocation.getOffset()] = index;
  }
  // An entry is its length, four bytes of kind, and the place of the function's first instruction.
  const llvm::DataExtractor data(*contents, file_.isLittleEndian(), file_.getBytesInAddress());
  for (std::uint64_t at = 0; at < contents->size();) {
    std::uint64_t next = at;
    const std::uint64_t length = data.getU32(&next) + 4;
    if (const auto found = functions.find(at + 8); found != functions.end())
      bytes_[found->second] += length;
    at += length;
  }
  return llvm::Error::success();
}

}  // namespace

std::optional<Bytes> read_function_bytes(llvm::MemoryBufferRef buffer) {
  auto file = object::ObjectFile::createELFObjectFile(buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  auto bytes = BytesReader(*llvm::cast<object::ELFObjectFileBase>(file->get())).read();
  if (bytes) return std::move(*bytes);
  llvm::consumeError(bytes.takeError());
  return std::nullopt;
}

}  // namespace compiler_gym::elf
