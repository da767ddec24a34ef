#include "compiler_gym/llvm/tokens.h"

#include <array>
#include <optional>

#include "compiler_gym/llvm/errors.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/AsmParser/LLLexer.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

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
    KIND(Eof, Other), KIND(Error, Other), KIND(dotdotdot, Punctuation),
    KIND(equal, Punctuation), KIND(comma, Punctuation), KIND(star, Punctuation),
    KIND(lsquare, Punctuation), KIND(rsquare, Punctuation), KIND(lbrace, Punctuation),
    KIND(rbrace, Punctuation), KIND(less, Punctuation), KIND(greater, Punctuation),
    KIND(lparen, Punctuation), KIND(rparen, Punctuation), KIND(exclaim, Punctuation),
    KIND(bar, Punctuation), KIND(colon, Punctuation), KIND(hash, Punctuation),
    KIND(LabelID, Label), KIND(GlobalID, Global), KIND(LocalVarID, Local),
    KIND(AttrGrpID, AttributeGroup), KIND(SummaryID, Other), KIND(LabelStr, Label),
    KIND(GlobalVar, Global), KIND(ComdatVar, Comdat), KIND(LocalVar, Local),
    KIND(MetadataVar, Metadata), KIND(StringConstant, String), KIND(DwarfTag, Metadata),
    KIND(DwarfAttEncoding, Metadata), KIND(DwarfVirtuality, Metadata), KIND(DwarfLang, Metadata),
    KIND(DwarfSourceLangName, Metadata), KIND(DwarfCC, Metadata), KIND(EmissionKind, Metadata),
    KIND(NameTableKind, Metadata), KIND(FixedPointKind, Metadata), KIND(DwarfOp, Metadata),
    KIND(DIFlag, Metadata), KIND(DISPFlag, Metadata), KIND(DwarfMacinfo, Metadata),
    KIND(ChecksumKind, Metadata), KIND(DbgRecordType, Metadata), KIND(DwarfEnumKind, Metadata),
    KIND(Type, Type), KIND(APFloat, Number), KIND(APSInt, Number),
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

// Remembers what each kind of token is.
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

// A token in `gap`, which reaches to the start of the next one: comments and
// blanks are between them, and a quoted name may hold a semicolon.
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

void add(Tokens& tokens, lltok::Kind kind, Category category, std::size_t start, std::size_t end) {
  tokens.kind.push_back(kind);
  tokens.category.push_back(static_cast<std::int8_t>(category));
  tokens.start.push_back(static_cast<std::int32_t>(start));
  tokens.end.push_back(static_cast<std::int32_t>(end));
}

Tokens empty_for(const std::string& text) {
  Tokens tokens;
  for (auto* column : {&tokens.kind, &tokens.start, &tokens.end}) column->reserve(text.size() / 4);
  tokens.category.reserve(text.size() / 4);
  return tokens;
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_word(char letter) { return ::llvm::isAlnum(letter) || letter == '_'; }
bool is_name(char letter) {
  return is_word(letter) || letter == '-' || letter == '$' || letter == '.';
}

// Reads what LLVM prints, several times as fast as LLVM's lexer, which compares each
// word with every keyword there is: here it is asked once for each word. What LLVM
// does not print is left to it altogether.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text), tokens_(empty_for(text)) {}

  // Nothing where LLVM's lexer must read the text.
  std::optional<Tokens> scan() {
    while (skip_blanks()) {
      if (!scan_token()) return std::nullopt;
    }
    return std::move(tokens_);
  }

 private:
  struct Word {
    lltok::Kind kind;
    Category category;
  };

  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  // Go to the next token; false at the end.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r') {
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
    add(tokens_, kind, category, at_, at_ + size);
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

  // 7, -7, 7: and 1.5e+01; the forms in hexadecimal are left to LLVM's lexer, word by word.
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
    const auto* word = known(StringRef(text_).slice(at_, end));
    return word && take(word->kind, end - at_, word->category);
  }

  // What LLVM's lexer makes of a word on its own; null where that is not one token.
  static const Word* known(StringRef word) {
    static thread_local ::llvm::StringMap<std::optional<Word>> words;
    const auto [place, is_new] = words.try_emplace(word);
    if (is_new) place->second = look_up(word);
    return place->second ? &*place->second : nullptr;
  }

  static std::optional<Word> look_up(StringRef word);

  const std::string& text_;
  Tokens tokens_;
  std::size_t at_ = 0;
};

std::optional<Scanner::Word> Scanner::look_up(StringRef word) {
  Tokens alone;
  try {
    alone = tokens_by_llvm(word.str());
  } catch (const InitError&) {
    return std::nullopt;
  }
  if (alone.kind.size() != 1 || static_cast<std::size_t>(alone.end[0]) != word.size()) {
    return std::nullopt;
  }
  return Word{static_cast<lltok::Kind>(alone.kind[0]), static_cast<Category>(alone.category[0])};
}

}  // namespace

Tokens tokens_of(const std::string& text) {
  auto tokens = Scanner(text).scan();
  return tokens ? std::move(*tokens) : tokens_by_llvm(text);
}

Words words_of(const Tokens& tokens, const std::string& text) {
  Words words;
  words.token_word.reserve(tokens.kind.size());
  ::llvm::DenseMap<std::pair<std::int32_t, StringRef>, std::int32_t> known;
  known.reserve(tokens.kind.size() / 16);
  for (std::size_t i = 0; i < tokens.kind.size(); ++i) {
    const auto word = StringRef(text).slice(tokens.start[i], tokens.end[i]);
    const auto number = static_cast<std::int32_t>(words.kind.size());
    const auto [place, is_new] = known.try_emplace({tokens.kind[i], word}, number);
    words.token_word.push_back(place->second);
    if (!is_new) continue;
    words.kind.push_back(tokens.kind[i]);
    words.category.push_back(tokens.category[i]);
    words.text += word;
    words.end.push_back(static_cast<std::int32_t>(words.text.size()));
  }
  return words;
}

Tokens tokens_by_llvm(const std::string& text) {
  ::llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(::llvm::MemoryBuffer::getMemBuffer(text, "", true), {});
  const StringRef buffer = sources.getMemoryBuffer(1)->getBuffer();
  ::llvm::LLVMContext context;
  ::llvm::SMDiagnostic complaint;
  ::llvm::LLLexer lexer(buffer, sources, complaint, context);
  Categories categories;
  Tokens tokens = empty_for(text);
  auto kind = lexer.Lex();
  while (kind != lltok::Eof) {
    if (kind == lltok::Error) throw InitError(complaint.getMessage().str());
    const auto start = static_cast<std::size_t>(lexer.getLoc().getPointer() - buffer.data());
    const auto next = lexer.Lex();
    const auto stop = next == lltok::Eof
                          ? buffer.size()
                          : static_cast<std::size_t>(lexer.getLoc().getPointer() - buffer.data());
    const auto size = length_of(buffer.slice(start, stop));
    add(tokens, kind, categories.of(kind, buffer.substr(start, size)), start, start + size);
    kind = next;
  }
  return tokens;
}

std::vector<std::string> token_categories() {
  return {"punctuation", "keyword", "instruction", "type", "attribute", "number", "string",
          "local", "global", "label", "metadata", "attribute group", "comdat", "other"};
}

std::vector<std::pair<std::int32_t, std::string>> token_kinds() {
  std::vector<std::pair<std::int32_t, std::string>> named;
  for (const auto& [kind, name, category] : named_kinds) named.emplace_back(kind, name);
  return named;
}

}  // namespace compiler_gym::llvm
