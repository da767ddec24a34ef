// Textual IR that several tests read.
#pragma once

#include <string_view>

namespace compiler_gym::tests {

inline constexpr std::string_view loop = R"(
source_filename = "loop.c"
target triple = "x86_64-pc-linux-gnu"

define i32 @sum(ptr %values, i32 %count) {
entry:
  %total = alloca i32
  store i32 0, ptr %total
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i32 %i, %count
  br i1 %more, label %body, label %done
body:
  %at = getelementptr inbounds i32, ptr %values, i32 %i
  %value = load i32, ptr %at
  %before = load i32, ptr %total
  %after = add nsw i32 %before, %value
  store i32 %after, ptr %total
  %next = add nuw nsw i32 %i, 1
  br label %head
done:
  %result = load i32, ptr %total
  ret i32 %result
}
)";
inline constexpr int loop_instructions = 15;

}  // namespace compiler_gym::tests
