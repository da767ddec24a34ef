#include "piece_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "reader.h"
#include "sample.h"

using namespace compiler_gym::llvm;
using compiler_gym::tests::each_edited_sample;
using compiler_gym::tests::sample;

namespace {

// All that the pieces of a module say, without addresses that belong to one module.
std::vector<WordStream::Digest> contents_of(std::string_view text, ::llvm::LLVMContext& context) {
  const auto module = read_module(text, "", context);
  PieceReader reader;
  std::vector<WordStream::Digest> found{reader.symbols(*module)};
  Piece piece;
  reader.read_outside(*module, piece);
  found.insert(found.end(), {piece.content, piece.node_content});
  for (const auto& function : *module) {
    if (function.isDeclaration()) continue;
    reader.read_body(function, piece);
    found.insert(found.end(), {piece.content, piece.node_content});
  }
  CHECK(!reader.met_the_unusual());
  return found;
}

bool is_unusual(std::string_view text) {
  ::llvm::LLVMContext context;
  const auto module = read_module(text, "", context);
  PieceReader reader;
  Piece piece;
  reader.symbols(*module);
  reader.read_outside(*module, piece);
  for (const auto& function : *module) reader.read_body(function, piece);
  return reader.met_the_unusual();
}

}  // namespace

TEST_CASE("every field of IR flips a piece") {
  ::llvm::LLVMContext context;
  const auto before = contents_of(sample, context);
  CHECK(before == contents_of(sample, context));
  each_edited_sample(
      [&](const std::string& edited) { CHECK(contents_of(edited, context) != before); });
}

TEST_CASE("a piece says how many instructions it has") {
  ::llvm::LLVMContext context;
  const auto module =
      read_module("define i32 @f() { %a = add i32 1, 2\n ret i32 %a }", "", context);
  Piece piece;
  PieceReader().read_body(*module->getFunction("f"), piece);
  CHECK(piece.instructions == 2);
}

TEST_CASE("what pieces do not tell apart is said to be unusual") {
  CHECK(!is_unusual("@a = global i32 0\ndefine ptr @f() { ret ptr @a }"));
  CHECK(is_unusual("@0 = global i32 0"));
  CHECK(
      is_unusual("@t = global ptr blockaddress(@f, %b)\n"
                 "define void @f() { br label %b\nb:\n ret void }"));
  CHECK(
      is_unusual("!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n"
                 "!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1)\n"
                 "!1 = !DIFile(filename: \"a\", directory: \"b\")\n"
                 "!2 = !{i32 2, !\"Debug Info Version\", i32 3}"));
}
