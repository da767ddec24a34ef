#include "compiler_gym/llvm/marks.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"

using namespace compiler_gym::llvm;

namespace {

constexpr std::string_view marked_program = R"(
target triple = "x86_64-pc-linux-gnu"
declare void @elsewhere(i32)
define internal i32 @twice(i32 %x) {
  %y = shl i32 %x, 1
  ret i32 %y
}
define i32 @again(i32 %x) {
  %y = call i32 @again(i32 %x)
  ret i32 %y
}
define i32 @main(ptr %f) {
entry:
  %a = call i32 @twice(i32 3)
  call void @elsewhere(i32 %a)
  call void %f()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @elsewhere(i32 %i)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 8
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret i32 %a
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
)";

struct Marked {
  Marked() { marks.number(); }

  bool choose(PointKind kind, std::int32_t id, const std::string& choice) {
    const auto& names = choice_names(kind);
    const auto at = std::find(names.begin(), names.end(), choice) - names.begin();
    return marks.choose(kind, id, static_cast<std::size_t>(at));
  }
  bool has(const std::string& text) { return module.text().find(text) != std::string::npos; }

  Module module{marked_program};
  Marks marks{module};
};

}  // namespace

TEST_CASE("every decision has an id in the order of the module") {
  Marked marked;
  const auto& points = marked.marks.points();
  REQUIRE(points.size() == 6);
  CHECK(points[0].label == "again -> again");
  CHECK(points[1].label == "main -> twice");  // the call of @elsewhere is not a point
  CHECK(points[1].id == 1);
  CHECK(points[2].label == "main, block 1, depth 1, 8 times");
  CHECK(points[3].label == "twice");
  CHECK(marked.marks.ids(PointKind::call) == 3);  // the indirect call may become direct
}

TEST_CASE("ids survive writing and reading, and are given once") {
  Marked marked;
  Module read(marked.module.bitcode());
  Marks again(read);
  const auto before = read.hash();
  again.number();
  CHECK(read.hash() == before);
  CHECK(again.points().size() == 6);
}

TEST_CASE("a mark that is taken back leaves the module as it was") {
  Marked marked;
  const auto before = marked.module.hash();
  for (const auto& point : marked.marks.points()) {
    const auto kind = point.kind;
    for (std::size_t choice = 1; choice < choice_names(kind).size(); ++choice) {
      if (!(point.allowed >> choice & 1) || choice_names(kind)[choice].starts_with("peel"))
        continue;
      CHECK(marked.marks.choose(kind, point.id, choice));
      CHECK_FALSE(marked.marks.choose(kind, point.id, choice));
      CHECK(marked.module.hash() != before);
      marked.module.verify();
      CHECK(marked.marks.choose(kind, point.id, 0));
      CHECK_MESSAGE(marked.module.hash() == before, choice_names(kind)[choice]);
    }
  }
}

TEST_CASE("an impossible choice is refused and changes nothing") {
  Marked marked;
  const auto before = marked.module.hash();
  CHECK_THROWS_AS(marked.choose(PointKind::call, 0, "inline"), RefusedError);  // recursive
  CHECK_THROWS_AS(marked.choose(PointKind::call, 2, "never"), RefusedError);   // indirect
  CHECK_THROWS_AS(marked.choose(PointKind::call, 9, "never"), RefusedError);
  CHECK_THROWS_AS(marked.marks.choose(PointKind::call, 1, 3), RefusedError);
  CHECK(marked.module.hash() == before);
}

TEST_CASE("passes obey, and removed points have no id") {
  Marked marked;
  CHECK(marked.choose(PointKind::call, 1, "never"));
  marked.module.run("cgscc(inline)");
  CHECK(marked.has("call i32 @twice("));
  CHECK(marked.choose(PointKind::call, 1, "inline"));
  marked.module.run("always-inline");
  CHECK_FALSE(marked.has("call i32 @twice("));
  CHECK_THROWS_AS(marked.choose(PointKind::call, 1, "never"), RefusedError);
}

TEST_CASE("a loop is unrolled as often as its mark requests") {
  Marked marked;
  CHECK(marked.choose(PointKind::loop, 0, "unroll.4"));
  marked.module.run("function(loop-unroll)");
  const auto text = marked.module.text();
  std::size_t calls = 0;
  for (auto at = text.find("call void @elsewhere"); at != std::string::npos;
       at = text.find("call void @elsewhere", at + 1)) {
    ++calls;
  }
  CHECK(calls == 1 + 4);
}

TEST_CASE("peeling is done at once") {
  Marked marked;
  const auto before = marked.module.instruction_count();
  CHECK(marked.choose(PointKind::loop, 0, "peel.1"));
  CHECK(marked.module.instruction_count() > before);
  marked.module.verify();
  CHECK(marked.has("llvm.loop.peeled.count"));
}

TEST_CASE("a choice replaces the former state, and default restores it") {
  Marked marked;
  CHECK(marked.choose(PointKind::loop, 0, "unroll.4"));
  CHECK(marked.choose(PointKind::loop, 0, "unroll.disable"));
  CHECK_FALSE(marked.has("llvm.loop.unroll.count"));
  CHECK(marked.choose(PointKind::loop, 0, "vectorize.4"));
  CHECK(marked.has("llvm.loop.unroll.disable"));
  CHECK(marked.has("llvm.loop.vectorize.width"));
  std::int64_t choices = 0;
  marked.module.inspect([&](const auto& ir) { choices = marked_loops(ir).choices[0]; });
  CHECK(__builtin_popcountll(choices) == 2);
}

TEST_CASE("ids and marks in a file can have any content") {
  std::string text(marked_program);
  const auto replace = [&](const std::string& old, const std::string& now) {
    text.replace(text.find(old), old.size(), now);
  };
  replace("call i32 @twice(i32 3)", "call i32 @twice(i32 3), !compiler_gym.call !2");
  replace("call i32 @again(i32 %x)", "call i32 @again(i32 %x), !compiler_gym.call !3");
  replace("@twice(i32 %x) {",
          "@twice(i32 %x) \"compiler-gym-function\"=\"2147483647\" "
          "\"compiler-gym-function-was\"=\"cold:77\" {");
  replace("!{!0, !1}", "!{!0, !1, !4}");
  text += "!2 = !{i32 0, i32 5}\n!3 = !{i32 2147483647}\n";
  text += "!4 = !{!\"compiler_gym.loop\", i32 3, !5, !5}\n!5 = !{null, !6, i32 1}\n!6 = !{null}\n";
  Module module{text};
  Marks marks{module};
  marks.number();
  CHECK(marks.ids(PointKind::call) == 3);
  CHECK(marks.ids(PointKind::function) == 3);
  for (const auto& point : std::vector<Point>(marks.points())) {
    for (const std::size_t choice : {2, 1, 0}) {
      if (point.allowed >> choice & 1) marks.choose(point.kind, point.id, choice);
    }
  }
  module.verify();
}
