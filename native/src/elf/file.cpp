#include "compiler_gym/elf/file.h"

#include <llvm/Object/ELF.h>

namespace compiler_gym::elf {

namespace {

using llvm::object::ELFFile;

template <class Value>
Value take(llvm::Expected<Value> value) {
  if (!value) throw BadFile(llvm::toString(value.takeError()));
  return std::move(*value);
}

template <class ELFT>
class Reader {
 public:
  explicit Reader(std::string_view data) : elf_(take(ELFFile<ELFT>::create(data))) {}

  File read() {
    const auto& header = elf_.getHeader();
    file_.bits = ELFT::Is64Bits ? 64 : 32;
    file_.little = ELFT::Endianness == llvm::endianness::little;
    file_.kind = header.e_type;
    file_.machine = header.e_machine;
    file_.entry = header.e_entry;
    file_.header_size = header.e_ehsize;
    sections_ = take(elf_.sections());
    read_segments();
    read_sections();
    for (const auto& section : sections_) {
      switch (section.sh_type) {
        case llvm::ELF::SHT_SYMTAB: read_symbols(section, 0); break;
        case llvm::ELF::SHT_DYNSYM: read_symbols(section, 1); break;
        default:
          if (section.sh_flags & llvm::ELF::SHF_ALLOC) read_relocations(section);
      }
    }
    return std::move(file_);
  }

 private:
  void read_segments() {
    const auto segments = take(elf_.program_headers());
    file_.segments_at = elf_.getHeader().e_phoff;
    file_.segments_size = segments.size() * sizeof(typename ELFT::Phdr);
    for (const auto& segment : segments) {
      if (segment.p_type == llvm::ELF::PT_TLS) thread_local_at_ = segment.p_vaddr;
      auto& to = file_.segments;
      to.kind.push_back(segment.p_type);
      to.flags.push_back(segment.p_flags);
      to.offset.push_back(segment.p_offset);
      to.address.push_back(segment.p_vaddr);
      to.size.push_back(segment.p_filesz);
    }
  }

  void read_sections() {
    file_.sections_at = elf_.getHeader().e_shoff;
    file_.sections_size = sections_.size() * sizeof(typename ELFT::Shdr);
    const auto names =
        sections_.empty() ? llvm::StringRef() : take(elf_.getSectionStringTable(sections_));
    for (const auto& section : sections_) {
      auto& to = file_.sections;
      to.name.push_back(take(elf_.getSectionName(section, names)).str());
      to.kind.push_back(section.sh_type);
      to.flags.push_back(section.sh_flags);
      to.address.push_back(section.sh_addr);
      to.offset.push_back(section.sh_offset);
      to.size.push_back(section.sh_size);
      to.link.push_back(section.sh_link);
      to.alignment.push_back(section.sh_addralign);
    }
  }

  void read_symbols(const typename ELFT::Shdr& table, std::uint64_t dynamic) {
    const auto symbols = take(elf_.symbols(&table));
    if (symbols.empty()) return;
    const auto names = take(elf_.getStringTableForSymtab(table, sections_));
    const auto large = find_large_indices(table);
    auto& to = file_.symbols;
    for (const auto& symbol : symbols.drop_front()) {
      const auto index = take(elf_.getSectionIndex(symbol, symbols, large));
      to.name.push_back(take(symbol.getName(names)).str());
      const bool is_thread_local = symbol.getType() == llvm::ELF::STT_TLS;
      to.value.push_back(symbol.st_value + (is_thread_local ? thread_local_at_ : 0));
      to.size.push_back(symbol.st_size);
      to.section.push_back(index);
      to.kind.push_back(symbol.getType());
      to.dynamic.push_back(dynamic);
    }
  }

  // The indices of sections that do not fit into a symbol of this table.
  llvm::object::DataRegion<typename ELFT::Word> find_large_indices(
      const typename ELFT::Shdr& table) {
    const auto index = static_cast<std::uint32_t>(&table - sections_.begin());
    for (const auto& section : sections_) {
      if (section.sh_type == llvm::ELF::SHT_SYMTAB_SHNDX && section.sh_link == index) {
        return take(elf_.getSHNDXTable(section, sections_));
      }
    }
    return llvm::ArrayRef<typename ELFT::Word>();
  }

  void read_relocations(const typename ELFT::Shdr& section) {
    const auto relative = elf_.getRelativeRelocationType();
    const bool is_mips = elf_.isMips64EL();
    auto& to = file_.relocations;
    if (section.sh_type == llvm::ELF::SHT_RELA) {
      for (const auto& record : take(elf_.relas(section))) {
        if (record.getType(is_mips) != relative) continue;
        to.place.push_back(record.r_offset);
        to.target.push_back(record.r_addend);
      }
    } else if (section.sh_type == llvm::ELF::SHT_REL) {
      for (const auto& record : take(elf_.rels(section))) {
        if (record.getType(is_mips) == relative) to.packed.push_back(record.r_offset);
      }
    } else if (section.sh_type == llvm::ELF::SHT_RELR) {
      for (const auto& record : elf_.decode_relrs(take(elf_.relrs(section)))) {
        to.packed.push_back(record.r_offset);
      }
    }
  }

  ELFFile<ELFT> elf_;
  typename ELFT::ShdrRange sections_;
  std::uint64_t thread_local_at_ = 0;
  File file_;
};

}  // namespace

File read_file(std::string_view data) {
  const auto [bits, order] = llvm::object::getElfArchType(data);
  const bool little = order == llvm::ELF::ELFDATA2LSB;
  if (!little && order != llvm::ELF::ELFDATA2MSB) throw BadFile("the byte order is unknown");
  if (bits == llvm::ELF::ELFCLASS64) {
    return little ? Reader<llvm::object::ELF64LE>(data).read()
                  : Reader<llvm::object::ELF64BE>(data).read();
  }
  if (bits != llvm::ELF::ELFCLASS32) throw BadFile("it is of neither 32 nor 64 bits");
  return little ? Reader<llvm::object::ELF32LE>(data).read()
                : Reader<llvm::object::ELF32BE>(data).read();
}

}  // namespace compiler_gym::elf
