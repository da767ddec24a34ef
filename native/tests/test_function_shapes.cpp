#include "compiler_gym/llvm/function_shapes.h"

#include <doctest/doctest.h>

#include <set>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"
#include "sample.h"

using namespace compiler_gym::llvm;

namespace {

std::int64_t shape_of(const std::string& ir) {
  ::llvm::LLVMContext context;
  const auto table = function_shapes(*read_module(ir, "", context));
  REQUIRE(!table.shapes.empty());
  return table.shapes.back();
}

std::string with(const std::string& text, std::string_view old, std::string_view by) {
  const auto at = text.find(old);
  REQUIRE(at != std::string::npos);
  return std::string(text).replace(at, old.size(), by);
}

const std::string original = R"(
%point = type { i32, [4 x i8] }
@count = global i32 0
@other = global i32 0
@text = private unnamed_addr constant [3 x i8] c"ab\00"
declare i32 @print(ptr, ...)
declare i32 @write(ptr, ...)
define i32 @first(ptr %p, i32 %n) {
entry:
  %field = getelementptr inbounds %point, ptr %p, i32 0, i32 1
  %old = load volatile i32, ptr %p, align 4
  store i32 7, ptr @count
  store i32 8, ptr @count
  %more = icmp slt i32 %old, 10
  br i1 %more, label %yes, label %no
yes:
  %sum = add nsw i32 %old, 5
  %printed = call i32 (ptr, ...) @print(ptr @text, i32 %sum)
  br label %no
no:
  %result = phi i32 [ %sum, %yes ], [ %n, %entry ]
  ret i32 %result
}
)";

}  // namespace

TEST_CASE("names and constants do not belong to a shape") {
  const auto shape = shape_of(original);
  const std::pair<std::string_view, std::string_view> edits[] = {
      {"@first", "@second"},
      {"add nsw i32 %old, 5", "add nsw i32 %old, 6"},
      {"add nsw i32", "add i32"},
      {"i32 0, i32 1\n", "i32 0, i32 0\n"},
      {"[4 x i8] }", "[9 x i8] }"},
      {"ptr %p, align 4", "ptr %p, align 1"},
      {"store i32 7", "store i32 0"},
      {"c\"ab\\00\"", "c\"xy\\00\""},
      {"%sum)", "%sum) nounwind"},
      {"define i32 @first(ptr %p, i32 %n) {", "define internal i32 @f(ptr %p, i32 %n) cold {"},
  };
  for (const auto& [old, by] : edits) {
    CAPTURE(old);
    CHECK(shape_of(with(original, old, by)) == shape);
  }
  // Every use of one symbol is replaced with another.
  auto renamed = with(original, "store i32 7, ptr @count", "store i32 7, ptr @other");
  renamed = with(renamed, "store i32 8, ptr @count", "store i32 8, ptr @other");
  CHECK(shape_of(renamed) == shape);
  CHECK(shape_of(with(original, "@print(ptr @text", "@write(ptr @text")) == shape);
}

TEST_CASE("opcodes, types, predicates, control flow and operands are") {
  const std::pair<std::string_view, std::string_view> edits[] = {
      {"add nsw", "sub nsw"},
      {"slt", "ult"},
      {"load volatile", "load"},
      {"%yes, label %no", "%no, label %yes"},
      {"[ %n, %entry ]", "[ %old, %entry ]"},
      {"add nsw i32 %old, 5", "add nsw i32 5, %old"},
      {"store i32 8, ptr @count", "store i32 8, ptr @other"},
      {"store i32 8, ptr @count", "store i64 8, ptr @count"},
      {"%point = type { i32, [4 x i8] }", "%point = type { i64, [4 x i8] }"},
      {"  %sum = add", "  fence seq_cst\n  %sum = add"},
  };
  std::set<std::int64_t> shapes = {shape_of(original)};
  for (const auto& [old, by] : edits) {
    CAPTURE(old);
    CHECK(shapes.insert(shape_of(with(original, old, by))).second);
  }
}

TEST_CASE("intrinsics are opcodes, and their operands are constants") {
  const std::string copy = R"(
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define void @f(ptr %a, ptr %b) {
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 8, i1 false)
  ret void
}
)";
  CHECK(shape_of(copy) == shape_of(with(copy, "i64 8", "i64 9")));
  CHECK(shape_of(copy) !=
        shape_of(with(copy, "call void @llvm.memcpy", "call void @llvm.memmove")));
}

TEST_CASE("a row says how large a function is, and whether each module has a copy") {
  ::llvm::LLVMContext context;
  const auto table = function_shapes(*read_module(compiler_gym::tests::loop, "", context));
  REQUIRE(table.names == std::vector<std::string>{"sum"});
  CHECK(table.instructions[0] == compiler_gym::tests::loop_instructions);
  CHECK(table.is_odr[0] == 0);
  const auto copies = function_shapes(*read_module(
      "define linkonce_odr void @a() { ret void } define weak_odr void @b() { ret void }"
      "define available_externally void @c() { ret void } define weak void @d() { ret void }",
      "", context));
  CHECK(copies.is_odr == std::vector<std::int8_t>{1, 1, 1, 0});
  CHECK(std::set(copies.shapes.begin(), copies.shapes.end()).size() == 1);
}

TEST_CASE("every kind of instruction has a shape, the same in each context") {
  ::llvm::LLVMContext one, other;
  const auto first = function_shapes(*read_module(compiler_gym::tests::sample, "", one));
  const auto second = function_shapes(*read_module(compiler_gym::tests::sample, "", other));
  CHECK(first.shapes.size() == 3);
  CHECK(first.shapes == second.shapes);
}
