#include "compiler_gym/jit/pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace compiler_gym::jit;

namespace {

struct Seen {
  std::vector<std::atomic<int>> times;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  explicit Seen(std::size_t count) : times(count) {}
};

void mark(void* environment, std::int64_t begin, std::int64_t end) {
  auto& seen = *static_cast<Seen*>(environment);
  for (auto i = begin; i < end; ++i) ++seen.times[static_cast<std::size_t>(i)];
  std::lock_guard lock(seen.mutex);
  seen.threads.insert(std::this_thread::get_id());
}

void nested(void* environment, std::int64_t begin, std::int64_t end) {
  for (auto i = begin; i < end; ++i) compiler_gym_parallel_for(mark, environment, 10);
}

bool each_once(const Seen& seen, int times = 1) {
  for (const auto& count : seen.times)
    if (count != times) return false;
  return true;
}

}  // namespace

TEST_CASE("every iteration runs once, on the requested number of threads") {
  for (int threads : {1, 2, 4, 3}) {
    set_thread_count(threads);
    for (int round = 0; round < 200; ++round) {
      Seen seen(1000);
      compiler_gym_parallel_for(mark, &seen, 1000);
      REQUIRE(each_once(seen));
      REQUIRE(seen.threads.size() == static_cast<std::size_t>(threads));
    }
  }
  Seen few(2);
  compiler_gym_parallel_for(mark, &few, 2);
  CHECK(each_once(few));
  set_thread_count(0);
  CHECK(thread_count() >= 1);
}

TEST_CASE("a loop inside a loop runs where it is") {
  set_thread_count(4);
  Seen seen(10);
  compiler_gym_parallel_for(nested, &seen, 8);
  CHECK(each_once(seen, 8));
  set_thread_count(0);
}

TEST_CASE("several callers wait for each other") {
  set_thread_count(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        Seen seen(50);
        compiler_gym_parallel_for(mark, &seen, 50);
        if (!each_once(seen)) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
  set_thread_count(0);
}

TEST_CASE("a forked process starts separate threads") {
  set_thread_count(3);
  Seen before(10);
  compiler_gym_parallel_for(mark, &before, 10);
  const pid_t child = fork();
  if (child == 0) {
    Seen seen(100);
    compiler_gym_parallel_for(mark, &seen, 100);
    _exit(each_once(seen) && seen.threads.size() == 3 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  set_thread_count(0);
}

TEST_CASE("scratch memory is stable until more is requested, and thread-local") {
  void* first = compiler_gym_scratch(0, 100);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  CHECK(compiler_gym_scratch(0, 50) == first);
  CHECK(compiler_gym_scratch(70, 100) != first);
  void* other = nullptr;
  std::thread([&] { other = compiler_gym_scratch(0, 100); }).join();
  CHECK(other != first);
  CHECK(compiler_gym_scratch(0, 1 << 20) != nullptr);
}
