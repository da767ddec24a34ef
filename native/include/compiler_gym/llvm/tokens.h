// IR text as the tokens of LLVM's own lexer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler_gym/llvm/table.h"

namespace compiler_gym::llvm {

// A classification of tokens, coarser than their kind.
enum class TokenCategory : std::int8_t {
  Punctuation,
  Keyword,
  Instruction,
  Type,
  Attribute,
  Number,
  String,
  Local,
  Global,
  Label,
  Metadata,
  AttributeGroup,
  Comdat,
  Other,
};

inline constexpr auto token_category_count = static_cast<std::size_t>(TokenCategory::Other) + 1;

struct Tokens {
  std::vector<std::int32_t> kind;
  std::vector<std::int8_t> category;
  std::vector<std::int32_t> start;
  std::vector<std::int32_t> end;
};

// A text and its tokens.
struct LexedText {
  Tokens tokens;
  std::string text;
};

template <class Visit>
void visit_columns(const LexedText& lexed, Visit&& visit) {
  visit(index_column("token_id", "the number of its kind in this LLVM's lexer"), lexed.tokens.kind);
  visit(kind_column("token_category", "an index into token_categories()", token_category_count),
        lexed.tokens.category);
  visit(index_column("token_start", "the offset of the token in the text, in bytes"),
        lexed.tokens.start);
  visit(index_column("token_end", "one past its last byte"), lexed.tokens.end);
  visit(text_column("text", "the text"), lexed.text);
}

// A text as indices of its distinct tokens, and these tokens in order of first occurrence.
struct Words {
  std::vector<std::int32_t> token_word;
  std::vector<std::int32_t> kind;
  std::vector<std::int8_t> category;
  std::vector<std::int32_t> end;
  std::string text;
};

template <class Visit>
void visit_columns(const Words& words, Visit&& visit) {
  visit(index_column("token_word", "for each token, its index among the distinct ones"),
        words.token_word);
  visit(index_column("word_id", "for each distinct one, like token_id of lexed_ir()"), words.kind);
  visit(kind_column("word_category", "an index into token_categories()", token_category_count),
        words.category);
  visit(index_column("word_end", "one past its last byte in the text"), words.end);
  visit(text_column("text", "of all distinct ones, one after the other"), words.text);
}

// Throws InitError if the lexer finds something that is not IR.
Tokens tokenize(const std::string& text);
Words index_words(const std::string& text);

// Like tokenize, but uses LLVM's lexer alone, which takes several times as long.
Tokens tokens_by_llvm(const std::string& text);

std::vector<std::string> token_categories();

// The kinds that are not keywords, as (number, name). A keyword's kind is named
// after its text: kw_define.
std::vector<std::pair<std::int32_t, std::string>> token_kinds();

}  // namespace compiler_gym::llvm
