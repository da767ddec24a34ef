#include "object.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/xxhash.h>

namespace compiler_gym::driver {

namespace {

constexpr Elf64_Word addrsig_type = 0x6fff4c03;  // SHT_LLVM_ADDRSIG
constexpr Elf64_Xword compared_flags =
    SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_TLS | SHF_EXCLUDE;

std::string hash(std::string_view data) {
  const std::uint64_t value = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(data.data()), data.size()));
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename Number>
  requires std::is_arithmetic_v<Number>
void append(std::string& text, Number number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& text, std::string_view name) { text.append(name).push_back('\0'); }

template <typename Record>
std::vector<Record> records_in(std::string_view data) {
  std::vector<Record> records(data.size() / sizeof(Record));
  if (!records.empty()) memcpy(records.data(), data.data(), records.size() * sizeof(Record));
  return records;
}

std::string_view name_at(std::string_view names, size_t at) {
  return at < names.size() ? names.substr(at, names.find('\0', at) - at) : std::string_view();
}

// Describes symbols and relocations with names, because tools renumber sections and symbols.
class Describer {
 public:
  explicit Describer(const Object& object) : object_(object) {
    for (const Section& section : object.sections) {
      if (section.header.sh_type == SHT_SYMTAB_SHNDX) is_readable = false;
      if (section.header.sh_type != SHT_SYMTAB) continue;
      symbols_ = records_in<Elf64_Sym>(section.contents);
      if (section.header.sh_link < object.sections.size())
        names_ = object.sections[section.header.sh_link].contents;
    }
  }

  std::string describe_symbol(const Elf64_Sym& symbol) const {
    std::string text;
    append(text, symbol.st_shndx < object_.sections.size() ? object_.sections[symbol.st_shndx].name
                                                           : std::to_string(symbol.st_shndx));
    append(text, symbol.st_value);
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return text;
    append(text, name_at(names_, symbol.st_name));
    append(text, symbol.st_info);
    append(text, symbol.st_other);
    append(text, symbol.st_size);
    return text;
  }

  std::string describe(const Section& section) const {
    std::string text;
    if (section.header.sh_type == SHT_RELA) {
      for (const Elf64_Rela& entry : records_in<Elf64_Rela>(section.contents)) {
        append(text, entry.r_offset);
        append(text, ELF64_R_TYPE(entry.r_info));
        append(text, entry.r_addend);
        const size_t index = ELF64_R_SYM(entry.r_info);
        if (index < symbols_.size()) text += describe_symbol(symbols_[index]);
      }
    } else if (section.header.sh_type == SHT_GROUP) {
      std::set<std::string_view> members;
      const auto indices = records_in<Elf64_Word>(section.contents);
      for (size_t at = 1; at < indices.size(); ++at)
        if (indices[at] < object_.sections.size())
          members.insert(object_.sections[indices[at]].name);
      for (const std::string_view member : members) append(text, member);
    } else if (section.header.sh_type != SHT_NOBITS) {
      return hash(section.contents);
    }
    return hash(text);
  }

  std::vector<std::string> list_symbols() const {
    std::vector<std::string> texts;
    for (const Elf64_Sym& symbol : symbols_)
      if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF)
        texts.push_back(describe_symbol(symbol));
    return texts;
  }

  bool is_readable = true;

 private:
  const Object& object_;
  std::vector<Elf64_Sym> symbols_;
  std::string_view names_;
};

// Tools that change nothing else rewrite or remove these.
bool is_ignored(const Section& section) {
  const auto type = section.header.sh_type;
  return type == SHT_NULL || type == SHT_SYMTAB || type == SHT_STRTAB || type == addrsig_type ||
         section.name == digest_section || section.name.starts_with(".debug") ||
         section.name.starts_with(".rela.debug");
}

bool is_identifier(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return isalnum(c) || c == '_'; });
}

// Constructors run in link order, and the parts of NAME follow __start_NAME in that order.
bool is_ordered(const Section& section) {
  static constexpr std::array<std::string_view, 5> arrays = {".init_array", ".fini_array",
                                                             ".preinit_array", ".ctors", ".dtors"};
  if (!(section.header.sh_flags & SHF_ALLOC) || section.header.sh_size == 0) return false;
  return is_identifier(section.name) || section.name == ".init" || section.name == ".fini" ||
         std::ranges::any_of(
             arrays, [&](std::string_view array) { return section.name.starts_with(array); });
}

size_t count_addresses(const Object& object, const Section& section) {
  if (section.header.sh_type != SHT_RELA || section.header.sh_info >= object.sections.size() ||
      !(object.sections[section.header.sh_info].header.sh_flags & SHF_ALLOC))
    return 0;
  return std::ranges::count_if(records_in<Elf64_Rela>(section.contents), [](const auto& entry) {
    return ELF64_R_TYPE(entry.r_info) == R_X86_64_64;
  });
}

}  // namespace

const Section* Object::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

std::optional<Object> read_object(std::string_view data) {
  Object object;
  Elf64_Ehdr& header = object.header;
  if (data.size() < sizeof header) return {};
  memcpy(&header, data.data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > data.size())
    return {};
  const std::string_view table = data.substr(header.e_shoff);
  if (table.size() < sizeof(Elf64_Shdr)) return {};
  const auto first = records_in<Elf64_Shdr>(table.substr(0, sizeof(Elf64_Shdr)))[0];
  const size_t count = header.e_shnum ? header.e_shnum : first.sh_size;
  if (count > table.size() / sizeof first) return {};
  for (const auto& each : records_in<Elf64_Shdr>(table.substr(0, count * sizeof first))) {
    const bool is_inside =
        each.sh_offset <= data.size() && each.sh_size <= data.size() - each.sh_offset;
    const bool is_empty = each.sh_type == SHT_NOBITS || each.sh_type == SHT_NULL;
    if (!is_inside && !is_empty) return {};
    object.sections.push_back(
        {each, {}, is_empty ? std::string_view() : data.substr(each.sh_offset, each.sh_size)});
  }
  object.names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (object.names == 0 || object.names >= count) return {};
  for (Section& section : object.sections)
    section.name = name_at(object.sections[object.names].contents, section.header.sh_name);
  return object;
}

std::string compute_digest(const Object& object) {
  const Describer describer(object);
  if (!describer.is_readable) return {};
  std::vector<std::string> parts = describer.list_symbols();
  for (const Section& section : object.sections) {
    if (is_ignored(section)) continue;
    std::string part;
    append(part, section.name);
    append(part, section.header.sh_flags & compared_flags);
    append(part, section.header.sh_flags & SHF_ALLOC ? section.header.sh_addralign : 0);
    append(part, section.header.sh_size * (section.header.sh_type == SHT_NOBITS));
    parts.push_back(part + describer.describe(section));
  }
  std::ranges::sort(parts);
  std::string all;
  for (const std::string& part : parts) append(all, part);
  return hash(all);
}

ObjectFacts examine(std::string_view data) {
  ObjectFacts facts;
  if (data.starts_with("BC\xC0\xDE") || data.starts_with("\xDE\xC0\x17\x0B")) {
    facts.has_ir = true;
    return facts;
  }
  const auto object = read_object(data);
  if (!object) return facts;
  const Section* ir = object->find(lto_section);
  const Section* digest = object->find(digest_section);
  facts.has_ir = ir != nullptr;
  facts.is_edited = ir && (!digest || digest->contents != compute_digest(*object));
  for (const Section& section : object->sections) {
    if (is_ordered(section)) facts.ordered.insert(std::string(section.name));
    facts.addresses += count_addresses(*object, section);
  }
  return facts;
}

}  // namespace compiler_gym::driver
