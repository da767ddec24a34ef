#include "fat.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <llvm/Bitstream/BitstreamReader.h>

#include "files.h"

namespace compiler_gym::driver {

namespace {

constexpr std::string_view embedded = ".llvmbc";      // as clang's -fembed-bitcode calls it
constexpr std::string_view for_linker = ".llvm.lto";  // as lld's --fat-lto-objects does
constexpr Elf64_Word type_for_linker = 0x6fff4c0c;    // SHT_LLVM_LTO
// Behind the bitcode: harmless there, but where `ld -r` has put two such sections together, one
// would hide machine code that the other knows nothing about. lld refuses it in their middle.
constexpr std::string_view no_more = "\xff\xff\xff\xff";

// Numbers of LLVM's bitcode, which never change.
enum Block : unsigned { module_block = 8, constants_block = 11, function_block = 12 };
enum Code : unsigned { module_asm = 4, inline_asm = 30 };

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

bool is_in_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

// Returns what the assembler `text` says in the first of its dialects, which $(first$|second$) tell
// apart.
std::string in_first_dialect(std::string_view text) {
  std::string chosen;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    if (two == "$(" || two == "$)") {
      ++at;
    } else if (two == "$|") {
      at = std::min(text.find("$)", at), text.size()) + 1;
    } else {
      chosen += text[at];
      if (two == "$$") chosen += text[++at];
    }
  }
  return chosen;
}

// Returns whether the assembler `text` of a function names symbols, defines labels or has
// directives: the optimiser of whole programs knows nothing of these, and several units share them.
bool names_symbols(std::string_view text) {
  static constexpr std::array<std::string_view, 10> prefixes = {
      "lock", "rep", "repe", "repz", "repne", "repnz", "data16", "notrack", "xacquire", "xrelease"};
  static constexpr std::array<std::string_view, 8> data = {
      ".byte", ".long", ".quad", ".value", ".word", ".p2align", ".align", ".balign"};
  bool is_first = true;  // of a statement
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '\n' || c == ';') {
      is_first = true;
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '/' && next == '*') {
      const size_t end = text.find("*/", at + 2);
      at = end == text.npos ? text.size() : end + 2;
    } else if (c == '{' || (c == '$' && next == '{')) {  // an operand, or a mask of AVX-512
      at = std::min(text.find('}', at), text.size() - 1) + 1;
    } else if (c == '$') {  // an operand, or a constant
      at += 2;
    } else if (c == '%' || (c >= '0' && c <= '9')) {  // a register, or a number with its letters
      if (c == '%') ++at;
      while (at < text.size() && is_in_word(text[at])) ++at;
      if (is_first && at < text.size() && text[at] == ':') ++at;  // 1: is each unit's own
    } else if (is_letter(c)) {
      const size_t start = at;
      while (at < text.size() && is_in_word(text[at])) ++at;
      const std::string_view word = text.substr(start, at - start);
      const bool is_label = at < text.size() && (text[at] == ':' || text[at] == '=');
      if (!is_first || is_label) return true;
      if (word.starts_with('.') && std::ranges::find(data, word) == data.end()) return true;
      is_first = std::ranges::find(prefixes, word) != prefixes.end();
    } else if (c == '"' || c == '=') {
      return true;
    } else {
      ++at;
    }
  }
  return false;
}

// Looks through the blocks of a module for assembler; returns false where they cannot be read.
bool look_through(llvm::BitstreamCursor& cursor, llvm::BitstreamBlockInfo& info, unsigned block,
                  std::string& why) {
  llvm::SmallVector<uint64_t, 64> record;
  while (why.empty()) {
    auto entry = cursor.advance();
    if (!entry) return llvm::consumeError(entry.takeError()), false;
    if (entry->Kind == llvm::BitstreamEntry::EndBlock) return true;
    if (entry->Kind == llvm::BitstreamEntry::Error) return false;
    if (entry->Kind == llvm::BitstreamEntry::SubBlock) {
      if (entry->ID == llvm::bitc::BLOCKINFO_BLOCK_ID) {
        auto read = cursor.ReadBlockInfoBlock();
        if (!read) return llvm::consumeError(read.takeError()), false;
        if (!*read) return false;
        info = std::move(**read);
        continue;
      }
      if (entry->ID != constants_block && entry->ID != function_block) {
        if (auto error = cursor.SkipBlock()) return llvm::consumeError(std::move(error)), false;
        continue;
      }
      if (auto error = cursor.EnterSubBlock(entry->ID))
        return llvm::consumeError(std::move(error)), false;
      if (!look_through(cursor, info, entry->ID, why)) return false;
      continue;
    }
    if (block == function_block) {
      auto code = cursor.skipRecord(entry->ID);
      if (!code) return llvm::consumeError(code.takeError()), false;
      continue;
    }
    record.clear();
    auto code = cursor.readRecord(entry->ID, record);
    if (!code) return llvm::consumeError(code.takeError()), false;
    if (block == module_block && *code == module_asm) why = "assembler outside of functions";
    if (block == constants_block && *code == inline_asm && record.size() > 3) {
      const size_t size = std::min<size_t>(record[2], record.size() - 3);
      const std::string text(record.begin() + 3, record.begin() + 3 + size);
      if (names_symbols(in_first_dialect(text)))
        why = "assembler that names symbols, or has labels or directives";
    }
  }
  return true;
}

// Returns why the module in `bitcode` cannot be a part of a larger one.
std::string why_apart(std::string_view bitcode) {
  const std::string unreadable = "bitcode that cannot be read";
  if (!bitcode.starts_with("BC\xC0\xDE")) return unreadable;
  llvm::BitstreamCursor cursor(llvm::StringRef(bitcode.data(), bitcode.size()));
  if (auto error = cursor.JumpToBit(32)) return llvm::consumeError(std::move(error)), unreadable;
  llvm::BitstreamBlockInfo info;
  cursor.setBlockInfo(&info);
  std::string why;
  while (why.empty() && cursor.getCurrentByteNo() + 8 <= bitcode.size()) {
    auto entry = cursor.advance();
    if (!entry) return llvm::consumeError(entry.takeError()), unreadable;
    if (entry->Kind != llvm::BitstreamEntry::SubBlock) return unreadable;
    if (entry->ID != module_block) {
      if (auto error = cursor.SkipBlock()) return llvm::consumeError(std::move(error)), unreadable;
    } else {
      if (auto error = cursor.EnterSubBlock(module_block))
        return llvm::consumeError(std::move(error)), unreadable;
      if (!look_through(cursor, info, module_block, why)) return unreadable;
    }
  }
  return why;
}

// An object of the only kind that there is here: 64 bits, the low byte first.
struct Object {
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;

  bool holds(const Elf64_Shdr& section, size_t size) const {
    return section.sh_type == SHT_NOBITS ||
           (section.sh_offset <= size && section.sh_size <= size - section.sh_offset);
  }
};

std::optional<Object> object_in(std::string_view data) {
  Object object;
  Elf64_Ehdr& header = object.header;
  if (data.size() < sizeof header) return {};
  memcpy(&header, data.data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > data.size())
    return {};
  Elf64_Shdr first;
  if (data.size() - header.e_shoff < sizeof first) return {};
  memcpy(&first, data.data() + header.e_shoff, sizeof first);
  const size_t count = header.e_shnum ? header.e_shnum : first.sh_size;
  if (count > (data.size() - header.e_shoff) / sizeof first) return {};
  object.sections.resize(count);
  memcpy(object.sections.data(), data.data() + header.e_shoff, count * sizeof first);
  for (const Elf64_Shdr& section : object.sections)
    if (!object.holds(section, data.size()) && section.sh_type != SHT_NULL) return {};
  return object;
}

}  // namespace

std::string finish_object(const std::string& path) {
  const std::optional<std::string> data = read_regular(path);
  std::optional<Object> object = data ? object_in(*data) : std::nullopt;
  if (!object) return {};
  auto& [header, sections] = *object;
  const size_t names_at = header.e_shstrndx == SHN_XINDEX ? sections[0].sh_link : header.e_shstrndx;
  if (names_at == 0 || names_at >= sections.size()) return {};
  const auto contents = [&](const Elf64_Shdr& section) {
    return std::string_view(*data).substr(section.sh_offset, section.sh_size);
  };
  std::string names(contents(sections[names_at]));
  const auto name_of = [&](const Elf64_Shdr& section) {
    return section.sh_name < names.size() ? std::string_view(names.c_str() + section.sh_name)
                                          : std::string_view();
  };
  Elf64_Shdr* part = nullptr;
  for (Elf64_Shdr& section : sections)
    if (section.sh_type != SHT_NOBITS &&
        (name_of(section) == embedded || name_of(section) == for_linker))
      part = &section;
  if (!part || contents(*part).ends_with(no_more)) return {};
  std::string bitcode(contents(*part));
  const std::string why = why_apart(bitcode);
  part->sh_name = names.size();
  part->sh_flags = SHF_EXCLUDE;
  // Another name where there is none: old tools of LLVM read each section that is called so.
  names += why.empty() ? for_linker : std::string_view(".no_llvm");
  names += '\0';
  if (why.empty()) {
    part->sh_type = type_for_linker;
    bitcode += no_more;
  } else {
    bitcode.clear();
  }
  std::vector<Elf64_Shdr*> by_place;
  for (Elf64_Shdr& section : sections) by_place.push_back(&section);
  std::ranges::stable_sort(by_place, {}, [](const Elf64_Shdr* each) { return each->sh_offset; });
  std::string written(sizeof header, '\0');
  for (Elf64_Shdr* section : by_place) {
    if (section->sh_type == SHT_NULL) continue;
    const size_t step = std::max<size_t>(section->sh_addralign, 1);
    written.resize((written.size() + step - 1) / step * step);
    const std::string_view old = section->sh_type == SHT_NOBITS ? "" : contents(*section);
    section->sh_offset = written.size();
    const bool is_names = section == &sections[names_at];
    const std::string_view now = section == part ? bitcode : is_names ? names : old;
    if (section->sh_type != SHT_NOBITS) section->sh_size = now.size();
    written += now;
  }
  written.resize((written.size() + 7) / 8 * 8);
  header.e_shoff = written.size();
  written.append(reinterpret_cast<const char*>(sections.data()),
                 sections.size() * sizeof(Elf64_Shdr));
  memcpy(written.data(), &header, sizeof header);
  return write_over(path, written) ? why : "";
}

}  // namespace compiler_gym::driver
