#include "compiler_gym/llvm/tokens.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "compiler_gym/llvm/errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/AsmParser/LLLexer.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/xxhash.h"

namespace compiler_gym::llvm {

using ::llvm::StringRef;
namespace lltok = ::llvm::lltok;

namespace {

using Category = TokenCategory;

struct NamedKind {
  lltok::Kind kind;
  const char* name;
  Category category;
};

#define KIND(NAME, CATEGORY) {lltok::NAME, #NAME, Category::CATEGORY}
constexpr NamedKind named_kinds[] = {
    KIND(Eof, Other),
    KIND(Error, Other),
    KIND(dotdotdot, Punctuation),
    KIND(equal, Punctuation),
    KIND(comma, Punctuation),
    KIND(star, Punctuation),
    KIND(lsquare, Punctuation),
    KIND(rsquare, Punctuation),
    KIND(lbrace, Punctuation),
    KIND(rbrace, Punctuation),
    KIND(less, Punctuation),
    KIND(greater, Punctuation),
    KIND(lparen, Punctuation),
    KIND(rparen, Punctuation),
    KIND(exclaim, Punctuation),
    KIND(bar, Punctuation),
    KIND(colon, Punctuation),
    KIND(hash, Punctuation),
    KIND(LabelID, Label),
    KIND(GlobalID, Global),
    KIND(LocalVarID, Local),
    KIND(AttrGrpID, AttributeGroup),
    KIND(SummaryID, Other),
    KIND(LabelStr, Label),
    KIND(GlobalVar, Global),
    KIND(ComdatVar, Comdat),
    KIND(LocalVar, Local),
    KIND(MetadataVar, Metadata),
    KIND(StringConstant, String),
    KIND(DwarfTag, Metadata),
    KIND(DwarfAttEncoding, Metadata),
    KIND(DwarfVirtuality, Metadata),
    KIND(DwarfLang, Metadata),
    KIND(DwarfSourceLangName, Metadata),
    KIND(DwarfCC, Metadata),
    KIND(EmissionKind, Metadata),
    KIND(NameTableKind, Metadata),
    KIND(FixedPointKind, Metadata),
    KIND(DwarfOp, Metadata),
    KIND(DIFlag, Metadata),
    KIND(DISPFlag, Metadata),
    KIND(DwarfMacinfo, Metadata),
    KIND(ChecksumKind, Metadata),
    KIND(DbgRecordType, Metadata),
    KIND(DwarfEnumKind, Metadata),
    KIND(Type, Type),
    KIND(APFloat, Number),
    KIND(APSInt, Number),
};
#undef KIND

constexpr std::size_t kinds = lltok::APSInt + 1;

const ::llvm::StringSet<>& opcode_names() {
  static const auto names = [] {
    ::llvm::StringSet<> made;
    for (unsigned opcode = 1; opcode < ::llvm::Instruction::OtherOpsEnd; ++opcode) {
      made.insert(::llvm::Instruction::getOpcodeName(opcode));
    }
    return made;
  }();
  return names;
}

Category category_of_keyword(StringRef word) {
  if (opcode_names().contains(word)) return Category::Instruction;
  if (::llvm::Attribute::getAttrKindFromName(word) != ::llvm::Attribute::None) {
    return Category::Attribute;
  }
  return Category::Keyword;
}

// Stores the category of each kind of token.
class Categories {
 public:
  Categories() {
    for (const auto& [kind, name, category] : named_kinds) known_[kind] = category;
  }

  Category of(lltok::Kind kind, StringRef word) {
    auto& known = known_[kind];
    if (!known) known = category_of_keyword(word);
    return *known;
  }

 private:
  std::array<std::optional<Category>, kinds> known_;
};

// The length of the token in `gap`, which reaches to the start of the next token: comments and
// blanks lie between them, and a quoted name may contain a semicolon.
std::size_t length_of(StringRef gap) {
  if (gap.contains(';')) {
    bool quoted = false;
    for (std::size_t i = 0; i < gap.size(); ++i) {
      quoted ^= gap[i] == '"';
      if (gap[i] == ';' && !quoted) {
        gap = gap.take_front(i);
        break;
      }
    }
  }
  return gap.rtrim().size();
}

// Stores tokens one after the other in columns.
struct Columns {
  explicit Columns(const std::string& text) {
    for (auto* column : {&tokens.kind, &tokens.start, &tokens.end})
      column->reserve(text.size() / 4);
    tokens.category.reserve(text.size() / 4);
  }

  void add(lltok::Kind kind, Category category, std::size_t start, std::size_t end) {
    tokens.kind.push_back(kind);
    tokens.category.push_back(static_cast<std::int8_t>(category));
    tokens.start.push_back(static_cast<std::int32_t>(start));
    tokens.end.push_back(static_cast<std::int32_t>(end));
  }

  // Earlier tokens are not stored here.
  bool add_again(std::size_t, std::size_t) { return false; }

  Tokens tokens;
};

// The kinds of token that a letter may be part of, in a table because that is faster than
// comparing.
enum Part : std::uint8_t { Digit = 1, Word = 2, Name = 4, Blank = 8 };

constexpr std::array<std::uint8_t, 256> parts_of_letters() {
  std::array<std::uint8_t, 256> parts{};
  for (int letter = '0'; letter <= '9'; ++letter) parts[letter] = Digit | Word | Name;
  for (int letter = 'a'; letter <= 'z'; ++letter) parts[letter] = Word | Name;
  for (int letter = 'A'; letter <= 'Z'; ++letter) parts[letter] = Word | Name;
  parts['_'] = Word | Name;
  parts['-'] = parts['$'] = parts['.'] = Name;
  parts[' '] = parts['\n'] = parts['\t'] = parts['\r'] = Blank;
  return parts;
}

constexpr auto parts = parts_of_letters();

bool is(Part part, char letter) { return parts[static_cast<unsigned char>(letter)] & part; }
bool is_digit(char letter) { return is(Digit, letter); }
bool is_word(char letter) { return is(Word, letter); }
bool is_name(char letter) { return is(Name, letter); }

// Most words have only a few letters, and any general hash function costs more than the rest of the
// work on them.
std::uint64_t hash_of(StringRef word) {
  std::uint64_t first = 0, last = 0;
  if (word.size() > 16) return ::llvm::xxh3_64bits(word);
  if (word.size() >= 8) {
    std::memcpy(&first, word.data(), 8);
    std::memcpy(&last, word.data() + word.size() - 8, 8);
  } else if (word.size() >= 4) {
    std::uint32_t head = 0, tail = 0;
    std::memcpy(&head, word.data(), 4);
    std::memcpy(&tail, word.data() + word.size() - 4, 4);
    first = head | std::uint64_t{tail} << 32;
  } else if (!word.empty()) {
    first = static_cast<unsigned char>(word.front()) |
            static_cast<unsigned char>(word[word.size() / 2]) << 8 |
            static_cast<unsigned char>(word.back()) << 16;
  }
  std::uint64_t mixed = (first ^ word.size() << 56) * 0x9E3779B97F4A7C15u + last;
  mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u;
  return mixed ^ mixed >> 32;
}

struct Keyword {
  lltok::Kind kind;
  Category category;
};

// The keyword that LLVM's lexer reads from a word alone; nothing if that is not one token.
std::optional<Keyword> look_up(StringRef word) {
  Tokens alone;
  try {
    alone = tokens_by_llvm(word.str());
  } catch (const InitError&) {
    return std::nullopt;
  }
  if (alone.kind.size() != 1 || static_cast<std::size_t>(alone.end[0]) != word.size()) {
    return std::nullopt;
  }
  return Keyword{static_cast<lltok::Kind>(alone.kind[0]), static_cast<Category>(alone.category[0])};
}

const Keyword* known_keyword(StringRef word) {
  static thread_local ::llvm::StringMap<std::optional<Keyword>> words;
  const auto [place, is_new] = words.try_emplace(word);
  if (is_new) place->second = look_up(word);
  return place->second ? &*place->second : nullptr;
}

// Reads text printed by LLVM, several times as fast as LLVM's lexer, which compares each word with
// every keyword: this calls the lexer once for each word. Text that LLVM does not print is left to
// the lexer entirely.
template <typename Taker>
class Scanner {
 public:
  Scanner(const std::string& text, Taker& taker) : text_(text), taker_(taker) {}

  // Return false if LLVM's lexer must read the whole text.
  bool scan() {
    while (skip_blanks()) {
      if (!scan_token()) return false;
    }
    return true;
  }

 private:
  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  // Go to the next token; false at the end.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (is(Blank, letter)) {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  bool scan_token() {
    switch (text_[at_]) {
      case '%': return scan_name(lltok::LocalVar, lltok::LocalVarID, Category::Local);
      case '@': return scan_name(lltok::GlobalVar, lltok::GlobalID, Category::Global);
      case '$': return scan_name(lltok::ComdatVar, lltok::Error, Category::Comdat);
      case '#': return scan_number_after(lltok::AttrGrpID, Category::AttributeGroup);
      case '!': return scan_metadata();
      case '"': return scan_string();
      case ',': return take(lltok::comma, 1);
      case '=': return take(lltok::equal, 1);
      case '*': return take(lltok::star, 1);
      case '[': return take(lltok::lsquare, 1);
      case ']': return take(lltok::rsquare, 1);
      case '{': return take(lltok::lbrace, 1);
      case '}': return take(lltok::rbrace, 1);
      case '<': return take(lltok::less, 1);
      case '>': return take(lltok::greater, 1);
      case '(': return take(lltok::lparen, 1);
      case ')': return take(lltok::rparen, 1);
      case '|': return take(lltok::bar, 1);
      case ':': return take(lltok::colon, 1);
      case '.': return at(at_ + 1) == '.' && at(at_ + 2) == '.' && take(lltok::dotdotdot, 3);
      default: break;
    }
    if (is_digit(text_[at_]) || text_[at_] == '-') return scan_number();
    return (::llvm::isAlpha(text_[at_]) || text_[at_] == '_') && scan_word();
  }

  bool take(lltok::Kind kind, std::size_t size, Category category = Category::Punctuation) {
    taker_.add(kind, category, at_, at_ + size);
    at_ += size;
    return true;
  }

  // @name, @"name" or @7
  bool scan_name(lltok::Kind named, lltok::Kind numbered, Category category) {
    auto end = at_ + 1;
    if (at(end) == '"') {
      end = text_.find('"', end + 1);
      if (end == std::string::npos) return false;
      ++end;
    } else if (is_digit(at(end))) {
      if (numbered == lltok::Error) return false;
      while (is_digit(at(end))) ++end;
      named = numbered;
    } else {
      while (is_name(at(end))) ++end;
      if (end == at_ + 1) return false;
    }
    return take(named, end - at_, category);
  }

  bool scan_number_after(lltok::Kind kind, Category category) {
    auto end = at_ + 1;
    while (is_digit(at(end))) ++end;
    return end > at_ + 1 && take(kind, end - at_, category);
  }

  bool scan_metadata() {
    auto end = at_ + 1;
    if (!::llvm::isAlpha(at(end)) && at(end) != '_') {
      return at(end) != '\\' && at(end) != '-' && at(end) != '$' && at(end) != '.' &&
             take(lltok::exclaim, 1);
    }
    while (is_name(at(end)) || at(end) == '\\') ++end;
    return take(lltok::MetadataVar, end - at_, Category::Metadata);
  }

  bool scan_string() {
    const auto end = text_.find('"', at_ + 1);
    if (end == std::string::npos || at(end + 1) == ':') return false;
    return take(lltok::StringConstant, end + 1 - at_, Category::String);
  }

  // 7, -7, 7: and 1.5e+01; hexadecimal forms are left to LLVM's lexer, word by word.
  bool scan_number() {
    auto end = at_ + 1;
    while (is_digit(at(end))) ++end;
    if (end == at_ + 1 && !is_digit(text_[at_])) return false;
    if (at(end) == ':') {
      return is_digit(text_[at_]) && take(lltok::LabelID, end + 1 - at_, Category::Label);
    }
    if (at(end) == '.') {
      ++end;
      while (is_digit(at(end))) ++end;
      if (at(end) == 'e' && (at(end + 1) == '+' || at(end + 1) == '-') && is_digit(at(end + 2))) {
        end += 3;
        while (is_digit(at(end))) ++end;
      }
      return !is_name(at(end)) && take(lltok::APFloat, end - at_, Category::Number);
    }
    if (at(end) == 'x' && end == at_ + 1 && text_[at_] == '0') {
      ++end;
      while (::llvm::isAlnum(at(end))) ++end;
      return at(end) != ':' && take(lltok::APFloat, end - at_, Category::Number);
    }
    return !is_name(at(end)) && take(lltok::APSInt, end - at_, Category::Number);
  }

  bool scan_word() {
    auto end = at_;
    while (is_word(at(end))) ++end;
    auto name_end = end;
    while (is_name(at(name_end))) ++name_end;
    if (at(name_end) == ':') return take(lltok::LabelStr, name_end + 1 - at_, Category::Label);
    if (taker_.add_again(at_, end)) {
      at_ = end;
      return true;
    }
    const auto* word = known_keyword(StringRef(text_).slice(at_, end));
    return word && take(word->kind, end - at_, word->category);
  }

  const std::string& text_;
  Taker& taker_;
  std::size_t at_ = 0;
};

// Numbers words by first occurrence.
class WordTable {
 public:
  explicit WordTable(const std::string& text) : source_(text), slots_(1 << 12) {
    letters_.fill(none);
    words_.token_word.reserve(text.size() / 4);
  }

  void add(lltok::Kind kind, Category category, std::size_t start, std::size_t end) {
    const auto word = StringRef(source_).slice(start, end);
    if (word.size() > 1) {
      words_.token_word.push_back(number_of(word, kind, category));
      return;
    }
    // Every other token is a single letter, which determines its kind.
    auto& number = letters_[static_cast<unsigned char>(word.front())];
    if (number == none || words_.kind[number] != kind) number = number_of(word, kind, category);
    words_.token_word.push_back(number);
  }

  // Add a keyword that occurred before; its letters alone identify it.
  bool add_again(std::size_t start, std::size_t end) {
    const auto word = StringRef(source_).slice(start, end);
    const auto number = slots_[place_of(word, hash_of(word), any_kind)].number;
    if (number == none) return false;
    words_.token_word.push_back(number);
    return true;
  }

  Words take() { return std::move(words_); }

 private:
  static constexpr std::int32_t none = -1;
  static constexpr std::uint32_t any_kind = ~0u;
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t number = none;
    std::uint32_t size = 0;
  };

  // The slot of `word`, or the empty one where it belongs.
  std::size_t place_of(StringRef word, std::uint64_t hash, std::uint32_t kind) const {
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const auto& slot = slots_[at];
      if (slot.number == none || (slot.hash == hash && is(slot, word, kind))) return at;
    }
  }

  bool is(const Slot& slot, StringRef word, std::uint32_t kind) const {
    if (slot.size != word.size()) return false;
    if (kind != any_kind && static_cast<std::uint32_t>(words_.kind[slot.number]) != kind) {
      return false;
    }
    // Below eight letters, the hash and the size identify the word.
    return word.size() < 8 ||
           std::memcmp(words_.text.data() + words_.end[slot.number] - word.size(), word.data(),
                       word.size()) == 0;
  }

  std::int32_t number_of(StringRef word, lltok::Kind kind, Category category) {
    const auto hash = hash_of(word);
    const auto at = place_of(word, hash, kind);
    const auto number = slots_[at].number;
    return number == none ? insert(at, hash, word, kind, category) : number;
  }

  std::int32_t insert(std::size_t at, std::uint64_t hash, StringRef word, lltok::Kind kind,
                      Category category) {
    const auto number = static_cast<std::int32_t>(words_.kind.size());
    slots_[at] = {hash, number, static_cast<std::uint32_t>(word.size())};
    words_.kind.push_back(kind);
    words_.category.push_back(static_cast<std::int8_t>(category));
    words_.text += word;
    words_.end.push_back(static_cast<std::int32_t>(words_.text.size()));
    if (words_.kind.size() * 2 > slots_.size()) grow();
    return number;
  }

  void grow() {
    const auto old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 4));
    for (const auto& slot : old) {
      if (slot.number == none) continue;
      auto at = slot.hash & (slots_.size() - 1);
      while (slots_[at].number != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  const std::string& source_;
  Words words_;
  std::vector<Slot> slots_;
  std::array<std::int32_t, 256> letters_;
};

}  // namespace

Tokens tokenize(const std::string& text) {
  Columns columns(text);
  return Scanner(text, columns).scan() ? std::move(columns.tokens) : tokens_by_llvm(text);
}

Words index_words(const std::string& text) {
  WordTable table(text);
  if (Scanner(text, table).scan()) return table.take();
  const auto tokens = tokens_by_llvm(text);
  WordTable another(text);
  for (std::size_t i = 0; i < tokens.kind.size(); ++i) {
    another.add(static_cast<lltok::Kind>(tokens.kind[i]), static_cast<Category>(tokens.category[i]),
                tokens.start[i], tokens.end[i]);
  }
  return another.take();
}

Tokens tokens_by_llvm(const std::string& text) {
  ::llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(::llvm::MemoryBuffer::getMemBuffer(text, "", true), {});
  const StringRef buffer = sources.getMemoryBuffer(1)->getBuffer();
  const auto context = make_fragile<::llvm::LLVMContext>();
  ::llvm::SMDiagnostic complaint;
  ::llvm::LLLexer lexer(buffer, sources, complaint, *context);
  Categories categories;
  Columns columns(text);
  auto kind = lexer.Lex();
  while (kind != lltok::Eof) {
    if (kind == lltok::Error) throw InitError(complaint.getMessage().str());
    const auto start = static_cast<std::size_t>(lexer.getLoc().getPointer() - buffer.data());
    const auto next = lexer.Lex();
    const auto stop = next == lltok::Eof
                          ? buffer.size()
                          : static_cast<std::size_t>(lexer.getLoc().getPointer() - buffer.data());
    const auto size = length_of(buffer.slice(start, stop));
    columns.add(kind, categories.of(kind, buffer.substr(start, size)), start, start + size);
    kind = next;
  }
  return std::move(columns.tokens);
}

std::vector<std::string> token_categories() {
  return {"punctuation", "keyword",         "instruction", "type",   "attribute",
          "number",      "string",          "local",       "global", "label",
          "metadata",    "attribute group", "comdat",      "other"};
}

std::vector<std::pair<std::int32_t, std::string>> token_kinds() {
  std::vector<std::pair<std::int32_t, std::string>> named;
  for (const auto& [kind, name, category] : named_kinds) named.emplace_back(kind, name);
  return named;
}

}  // namespace compiler_gym::llvm
