#include "fat.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <llvm/Bitstream/BitstreamReader.h>

#include "files.h"
#include "object.h"

namespace compiler_gym::driver {

namespace {

// Numbers in LLVM's bitcode format, which never change.
enum Block : unsigned { module_block = 8, constants_block = 11, function_block = 12 };
enum Code : unsigned { module_asm = 4, inline_asm = 30 };

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

bool is_in_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

// Return the assembler `text` in the first of its dialects, which $(first$|second$) separate.
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

// Return whether the assembler `text` of a function names symbols, defines labels or has
// directives: the optimiser of whole programs does not see these, and several units share them.
bool names_symbols(std::string_view text) {
  static constexpr std::array<std::string_view, 10> prefixes = {
      "lock", "rep", "repe", "repz", "repne", "repnz", "data16", "notrack", "xacquire", "xrelease"};
  static constexpr std::array<std::string_view, 8> data = {
      ".byte", ".long", ".quad", ".value", ".word", ".p2align", ".align", ".balign"};
  bool is_first = true;  // whether the next word begins a statement
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
    } else if (c == '%' || (c >= '0' && c <= '9')) {  // a register, or a number with its suffix
      if (c == '%') ++at;
      while (at < text.size() && is_in_word(text[at])) ++at;
      if (is_first && at < text.size() && text[at] == ':') ++at;  // 1: is local to each unit
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

// Search the blocks of a module for assembler; return false if they cannot be read.
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

// Return the reason why the module in `bitcode` cannot be a part of a larger one.
std::string find_reason(std::string_view bitcode) {
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

// Return the bytes to append to the object of `size` bytes, and change its header: the names of
// sections, the digest, and a table of sections that includes the digest.
std::string make_tail(Object& object, size_t size, std::string_view digest, bool is_native) {
  std::string tail(-size % 8, '\0');
  std::string texts(object.sections[object.names].contents);
  std::vector<Elf64_Shdr> table;
  for (const Section& section : object.sections) table.push_back(section.header);
  const auto add_name = [&](std::string_view name) {
    const size_t at = texts.size();
    texts.append(name).push_back('\0');
    return at;
  };
  if (is_native) {
    for (size_t at = 0; at < table.size(); ++at)
      if (object.sections[at].name == lto_section) {
        // Rename the section if there is no IR: old LLVM tools read every section with the usual
        // name.
        table[at].sh_name = add_name(".no_llvm");
        table[at].sh_type = SHT_PROGBITS;
        table[at].sh_size = 0;
      }
  } else {
    Elf64_Shdr added = {};
    added.sh_name = add_name(digest_section);
    added.sh_type = SHT_PROGBITS;
    added.sh_flags = SHF_EXCLUDE;
    added.sh_offset = size + tail.size();
    added.sh_size = digest.size();
    added.sh_addralign = 1;
    tail += digest;
    table.push_back(added);
  }
  table[object.names].sh_offset = size + tail.size();
  table[object.names].sh_size = texts.size();
  tail += texts;
  tail.resize(tail.size() + -(size + tail.size()) % 8);
  object.header.e_shoff = size + tail.size();
  const bool is_counted_in_header = table.size() < SHN_LORESERVE;
  object.header.e_shnum = is_counted_in_header ? table.size() : 0;
  if (!is_counted_in_header) table[0].sh_size = table.size();
  return tail.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof table[0]);
}

}  // namespace

Finished finish_object(const std::string& path) {
  const std::optional<std::string> data = read_regular(path);
  std::optional<Object> object = data ? read_object(*data) : std::nullopt;
  const Section* ir = object ? object->find(lto_section) : nullptr;
  if (!ir || object->find(digest_section)) return {};
  const std::string why = find_reason(ir->contents);
  const std::string digest = compute_digest(*object);
  if (why.empty() && digest.empty()) return {};
  const std::string tail = make_tail(*object, data->size(), digest, !why.empty());
  const std::string_view header(reinterpret_cast<const char*>(&object->header),
                                sizeof object->header);
  return {why, extend_file(path, data->size(), tail, header)};
}

}  // namespace compiler_gym::driver
