#include "compiler_gym/jit/code.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "compiler_gym/jit/errors.h"

using namespace compiler_gym::jit;

namespace {

constexpr auto square = R"(define i32 @square(i32 %x) {
  %y = mul i32 %x, %x
  ret i32 %y
})";

using Unary = int (*)(int);

int seven(int x) { return x + 7; }

}  // namespace

TEST_CASE("text becomes a function at every level, and without passes") {
  for (int level = -1; level <= 3; ++level) {
    const auto code = Code::compile(square, level);
    CHECK(reinterpret_cast<Unary>(code->address("square"))(12) == 144);
    CHECK(code->size() > 0);
    CHECK(code->stages().generate > 0);
  }
}

TEST_CASE("functions of the same name live side by side") {
  const auto one = Code::compile("define i32 @f() {\n ret i32 1\n}", 2);
  const auto two = Code::compile("define i32 @f() {\n ret i32 2\n}", 2);
  CHECK(reinterpret_cast<int (*)()>(one->address("f"))() == 1);
  CHECK(reinterpret_cast<int (*)()>(two->address("f"))() == 2);
}

TEST_CASE("a declared function is looked up among the symbols, then in the process") {
  const std::string ir = R"(declare i32 @ours(i32)
declare double @cbrt(double)
define i32 @f(i32 %x) {
  %y = call i32 @ours(i32 %x)
  %d = sitofp i32 %y to double
  %r = call double @cbrt(double %d)
  %z = fptosi double %r to i32
  ret i32 %z
})";
  const auto code = Code::compile(ir, 0, {{"ours", reinterpret_cast<std::uintptr_t>(&seven)}});
  CHECK(reinterpret_cast<Unary>(code->address("f"))(20) == 3);
}

TEST_CASE("each kind of failure has its error, and the next text compiles") {
  CHECK_THROWS_AS(Code::compile("no IR", 2), InvalidIrError);
  CHECK_THROWS_AS(Code::compile("define i32 @f() {\n  %x = add i32 %x, 1\n  ret i32 %x\n}", 2),
                  InvalidIrError);
  CHECK_THROWS_AS(
      Code::compile("target triple = \"aarch64-linux-gnu\"\ndefine void @f() {\n ret void\n}", 2),
      TargetError);
  const auto lonely = Code::compile(
      "declare void @nobody_has_this()\ndefine void @f() {\n"
      "  call void @nobody_has_this()\n  ret void\n}",
      -1);
  CHECK_THROWS_WITH_AS(lonely->address("f"), doctest::Contains("nobody_has_this"), LinkError);
  CHECK_THROWS_AS(Code::compile(square, 2)->address("cube"), LinkError);
  // Code generation detects a wrong register name.
  CHECK_THROWS_AS(Code::compile("define void @f() {\n  call void asm sideeffect \"movl "
                                "%nonsense, %eax\", \"\"()\n  ret void\n}",
                                -1),
                  FatalError);
  CHECK(reinterpret_cast<Unary>(Code::compile(square, 1)->address("square"))(3) == 9);
}

TEST_CASE("equal requests are compiled once") {
  clear_cache();
  const auto before = cache_use();
  const auto one = compile_cached(square, 2);
  CHECK(compile_cached(square, 2) == one);
  CHECK(compile_cached(square, 1) != one);
  CHECK(cache_use().hits - before.hits == 1);
  CHECK(cache_use().misses - before.misses == 2);
  clear_cache();
  CHECK(compile_cached(square, 2) != one);
  CHECK(reinterpret_cast<Unary>(one->address("square"))(5) == 25);
}

TEST_CASE("variables are set before code runs") {
  const auto code = Code::compile(
      "@v = global i32 41\ndefine i32 @f() {\n  %x = load i32, ptr @v\n  ret i32 %x\n}", 2);
  CHECK(reinterpret_cast<int (*)()>(code->address("f"))() == 41);
}

TEST_CASE("generators are reused: the same text has the same size after any other") {
  const auto first = Code::compile(square, 2)->size();
  for (int number = 0; number < 140; ++number) {
    const auto text = "define i32 @f() {\n ret i32 " + std::to_string(number) + "\n}";
    CHECK(reinterpret_cast<int (*)()>(Code::compile(text, 2)->address("f"))() == number);
    if (number % 20 == 0) CHECK_THROWS_AS(Code::compile("no IR", 2), InvalidIrError);
  }
  CHECK(Code::compile(square, 2)->size() == first);
}

TEST_CASE("threads compile at once") {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread, &right] {
      for (int number = 0; number < 10; ++number) {
        const int value = 100 * thread + number;
        const auto code =
            Code::compile("define i32 @f() {\n ret i32 " + std::to_string(value) + "\n}", -1);
        right += reinterpret_cast<int (*)()>(code->address("f"))() == value;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 40);
}

TEST_CASE("a process that is forked while others compile can compile") {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int number = 0; !done; ++number) {
        compile_cached(
            "define i32 @f() {\n ret i32 " + std::to_string(number % 50 + thread) + "\n}", -1);
        if (number % 20 == 0) clear_cache();
      }
    });
  }
  int failed = 0;
  for (int copy = 0; copy < 60 && failed == 0; ++copy) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // a lock without an owner would block forever
      const auto code = compile_cached(square, 0);
      _exit(reinterpret_cast<Unary>(code->address("square"))(3) == 9 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  done = true;
  for (auto& thread : threads) thread.join();
  CHECK(failed == 0);
}
