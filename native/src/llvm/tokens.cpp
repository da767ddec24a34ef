#include "compiler_gym/llvm/tokens.h"

#include <array>
#include <optional>

#include "compiler_gym/llvm/errors.h"
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

}  // namespace

Tokens tokens_of(const std::string& text) {
  ::llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(::llvm::MemoryBuffer::getMemBuffer(text, "", true), {});
  const StringRef buffer = sources.getMemoryBuffer(1)->getBuffer();
  ::llvm::LLVMContext context;
  ::llvm::SMDiagnostic complaint;
  ::llvm::LLLexer lexer(buffer, sources, complaint, context);
  Categories categories;
  Tokens tokens;
  for (auto* column : {&tokens.kind, &tokens.start, &tokens.end}) column->reserve(text.size() / 4);
  tokens.category.reserve(text.size() / 4);
  auto kind = lexer.Lex();
  while (kind != lltok::Eof) {
    if (kind == lltok::Error) throw InitError(complaint.getMessage().str());
    const auto start = static_cast<std::size_t>(lexer.getLoc().getPointer() - buffer.data());
    const auto next = lexer.Lex();
    const auto stop = next == lltok::Eof
                          ? buffer.size()
                          : static_cast<std::size_t>(lexer.getLoc().getPointer() - buffer.data());
    const auto size = length_of(buffer.slice(start, stop));
    tokens.kind.push_back(kind);
    tokens.category.push_back(
        static_cast<std::int8_t>(categories.of(kind, buffer.substr(start, size))));
    tokens.start.push_back(static_cast<std::int32_t>(start));
    tokens.end.push_back(static_cast<std::int32_t>(start + size));
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
