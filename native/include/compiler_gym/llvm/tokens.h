// IR text as the tokens of LLVM's own lexer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace compiler_gym::llvm {

// What a token is, more coarsely than its kind.
enum class TokenCategory : std::int8_t {
  Punctuation, Keyword, Instruction, Type, Attribute, Number, String, Local, Global, Label,
  Metadata, AttributeGroup, Comdat, Other,
};

struct Tokens {
  std::vector<std::int32_t> kind;      // the lexer's number, as of this LLVM
  std::vector<std::int8_t> category;
  std::vector<std::int32_t> start;     // where the token begins in the text, in bytes
  std::vector<std::int32_t> end;       // one past its last byte
};

// A text as the numbers of its different tokens, and those in the order they first occur.
struct Words {
  std::vector<std::int32_t> token_word;  // for each token of the text
  std::vector<std::int32_t> kind;        // for each different one, as in Tokens
  std::vector<std::int8_t> category;
  std::vector<std::int32_t> end;         // one past its last byte in `text`
  std::string text;                      // of all different ones, one after the other
};

// Throws InitError where the lexer meets something that is not IR.
Tokens tokens_of(const std::string& text);
Words words_of(const std::string& text);

// The same, by LLVM's lexer alone, which takes several times as long.
Tokens tokens_by_llvm(const std::string& text);

std::vector<std::string> token_categories();

// The kinds that are not keywords, as (number, name). A keyword's kind is named
// after its text: kw_define.
std::vector<std::pair<std::int32_t, std::string>> token_kinds();

}  // namespace compiler_gym::llvm
