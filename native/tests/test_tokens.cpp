#include "compiler_gym/llvm/tokens.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"

using namespace compiler_gym::llvm;

namespace {

std::vector<std::string> texts_of(const std::string& text) {
  const auto tokens = tokenize(text);
  const auto again = tokens_by_llvm(text);
  CHECK(tokens.kind == again.kind);
  CHECK(tokens.category == again.category);
  CHECK(tokens.start == again.start);
  CHECK(tokens.end == again.end);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < tokens.kind.size(); ++i) {
    words.push_back(text.substr(tokens.start[i], tokens.end[i] - tokens.start[i]));
  }
  return words;
}

}  // namespace

TEST_CASE("tokens end before blanks and comments") {
  const std::string text = "define i32 @f()  ; a comment, \"quoted\"\n{\n3:  ; preds = %1\n}";
  const std::vector<std::string> expected{"define", "i32", "@f", "(", ")", "{", "3:", "}"};
  CHECK(texts_of(text) == expected);
}

TEST_CASE("a quoted name can contain a semicolon") {
  const std::vector<std::string> expected{"@\"a;b\"", "=", "c", "\"x;\\22;y\"", ","};
  CHECK(texts_of("@\"a;b\" = c \"x;\\22;y\" , ; end") == expected);
}

TEST_CASE("each token has a category") {
  const auto tokens = tokenize("%1 = add nsw i32 %0, 7 ; seven\n!0 = !{}\n");
  using C = TokenCategory;
  const C expected[] = {C::Local, C::Punctuation, C::Instruction, C::Keyword,
                        C::Type,  C::Local,       C::Punctuation, C::Number};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CHECK(tokens.category[i] == static_cast<std::int8_t>(expected[i]));
  }
}

TEST_CASE("text that is not IR is refused") {
  CHECK_THROWS_AS(tokenize("\x01"), InitError);
  CHECK(tokenize("").kind.empty());
}

TEST_CASE("the forms that LLVM prints are read as its lexer reads them") {
  CHECK(texts_of("%a.b-1 = fadd double %\"x y\", 1.500000e+01").size() == 7);
  CHECK(texts_of("float 0x3FF0000000000000, half 0xH3C00, i64 -7, i1 true").size() == 11);
  CHECK(texts_of("for.body.i:  ; preds = %a\n12: ; no name\n\"odd name\":\n").size() == 3);
  CHECK(texts_of("!llvm.ident = !{!0, !1}\n!0 = !{!\"text ; \\22\", i32 7}").size() > 10);
  CHECK(texts_of("declare void @f(ptr, ...) #1 comdat($any) align 4").size() == 15);
  CHECK(texts_of("%x = call i32 asm sideeffect \"a;b\", \"=r\"() #2, !srcloc !3").size() == 16);
  CHECK(texts_of("<vscale x 4 x i32> splat (i32 s0x1F)").size() > 9);
}

TEST_CASE("both lexers give a text the same word numbers") {
  // LLVM's lexer alone reads the second text: a quoted label.
  for (const std::string text : {"@f = add i32 %a, %a", "@f = add \"a\": %a, %a"}) {
    const auto tokens = tokenize(text);
    const auto words = index_words(text);
    REQUIRE(words.token_word.size() == tokens.kind.size());
    for (std::size_t i = 0; i < tokens.kind.size(); ++i) {
      const auto number = static_cast<std::size_t>(words.token_word[i]);
      const auto start = number == 0 ? 0 : words.end[number - 1];
      CHECK(words.text.substr(start, words.end[number] - start) ==
            text.substr(tokens.start[i], tokens.end[i] - tokens.start[i]));
      CHECK(words.kind[number] == tokens.kind[i]);
      CHECK(words.category[number] == tokens.category[i]);
    }
    CHECK(words.kind.size() == tokens.kind.size() - 1);
  }
}

TEST_CASE("a growing table distinguishes words of every length") {
  std::string text;
  for (int i = 0; i < 6000; ++i) text += "%" + std::string(i % 20, 'a') + std::to_string(i) + " ";
  for (int i = 0; i < 6000; ++i) text += "%" + std::string(i % 20, 'a') + std::to_string(i) + " ";
  const auto words = index_words(text);
  REQUIRE(words.kind.size() == 6000);
  for (int i = 0; i < 12000; ++i) CHECK(words.token_word[i] == i % 6000);
}
