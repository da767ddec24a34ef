#include "sizes.h"

#include <elf.h>

#include <cstring>
#include <optional>

#include "files.h"

namespace compiler_gym::driver {

namespace {

template <typename Record, typename Use>
void for_each(const std::string& data, size_t offset, size_t count, Use use) {
  Record record;
  for (size_t at = 0; at < count && offset + sizeof record <= data.size(); ++at) {
    memcpy(&record, data.data() + offset, sizeof record);
    use(record);
    offset += sizeof record;
  }
}

}  // namespace

Sizes measure(const std::string& path) {
  Sizes sizes;
  const std::optional<std::string> data = read_regular(path);
  Elf64_Ehdr header;
  if (!data || data->size() < sizeof header) return sizes;
  memcpy(&header, data->data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
    return sizes;
  for_each<Elf64_Phdr>(*data, header.e_phoff, header.e_phnum, [&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_LOAD) sizes.loaded += segment.p_filesz;
  });
  bool has_symbols = false;
  for_each<Elf64_Shdr>(*data, header.e_shoff, header.e_shnum, [&](const Elf64_Shdr& section) {
    has_symbols |= section.sh_type == SHT_SYMTAB;
    if (section.sh_type != SHT_NOBITS && !(section.sh_flags & SHF_ALLOC))
      sizes.strippable += section.sh_size;
  });
  if (!has_symbols) sizes.strippable = 0;
  return sizes;
}

}  // namespace compiler_gym::driver
