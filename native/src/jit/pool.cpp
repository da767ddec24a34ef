#include "compiler_gym/jit/pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace compiler_gym::jit {
namespace {

struct Job {
  compiler_gym_body body = nullptr;
  void* environment = nullptr;
  std::int64_t count = 0;
};

// The number of times that a thread checks for the next loop before it sleeps: some microseconds,
// about the time of a wake-up.
constexpr int looks = 2000;

class Pool {
 public:
  explicit Pool(int others) : parts_(others + 1) {
    for (int part = 1; part <= others; ++part) {
      std::thread([this, part] { serve(part); }).detach();
    }
  }

  bool fits(int others) const { return parts_ == others + 1; }

  void run(const Job& job) {
    {
      std::lock_guard lock(mutex_);
      job_ = job;
      waiting_for_.store(parts_ - 1, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
    }
    started_.notify_all();
    run_part(job, 0);
    for (int look = 0; look < looks; ++look) {
      if (waiting_for_.load(std::memory_order_acquire) == 0) return;
      pause();
    }
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return waiting_for_.load(std::memory_order_acquire) == 0; });
  }

  // End the threads of an earlier size; the pool itself stays, because they may still read it.
  void retire() {
    {
      std::lock_guard lock(mutex_);
      retired_ = true;
    }
    started_.notify_all();
  }

 private:
  static void pause() { __builtin_ia32_pause(); }

  void run_part(const Job& job, int part) const {
    const std::int64_t begin = job.count * part / parts_;
    const std::int64_t end = job.count * (part + 1) / parts_;
    if (begin < end) job.body(job.environment, begin, end);
  }

  void serve(int part);

  const int parts_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  Job job_;
  std::atomic<std::uint64_t> round_ = 0;
  std::atomic<int> waiting_for_ = 0;
  bool retired_ = false;
};

thread_local bool is_inside = false;
std::atomic<int> wanted = 0;
// Never freed, see `retire`.
Pool* pool = nullptr;
// Protects the pool. Never destroyed: code may run while a process ends.
std::mutex* door = new std::mutex;

// A forked process has neither the pool's threads nor the thread that held the lock.
void forget_pool() {
  pool = nullptr;
  door = new std::mutex;
  is_inside = false;
}
[[maybe_unused]] const int pool_watches_forks = pthread_atfork(nullptr, nullptr, forget_pool);

void Pool::serve(int part) {
  is_inside = true;
  std::uint64_t seen = 0;
  for (;;) {
    for (int look = 0; look < looks && round_.load(std::memory_order_acquire) == seen; ++look) {
      pause();
    }
    Job job;
    {
      std::unique_lock lock(mutex_);
      started_.wait(lock, [&] { return round_.load() != seen || retired_; });
      if (retired_) return;
      seen = round_.load();
      job = job_;
    }
    run_part(job, part);
    // Under the lock, or the caller could miss the notification between its last check and its
    // sleep.
    std::lock_guard lock(mutex_);
    if (waiting_for_.fetch_sub(1, std::memory_order_acq_rel) == 1) finished_.notify_one();
  }
}

int processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

int thread_count() {
  const int count = wanted.load();
  return count > 0 ? count : std::max(1, processors());
}

void set_thread_count(int count) { wanted.store(std::max(0, count)); }

}  // namespace compiler_gym::jit

void compiler_gym_parallel_for(compiler_gym_body body, void* environment, std::int64_t count) {
  using namespace compiler_gym::jit;
  const int others = thread_count() - 1;
  if (is_inside || others == 0 || count < 2) {
    body(environment, 0, count);
    return;
  }
  std::lock_guard lock(*door);
  if (pool == nullptr || !pool->fits(others)) {
    if (pool != nullptr) pool->retire();
    pool = new Pool(others);
  }
  is_inside = true;
  pool->run({body, environment, count});
  is_inside = false;
}

namespace {

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

struct Scratch {
  std::unique_ptr<void, Freed> memory;
  std::int64_t bytes = 0;
};

thread_local std::vector<Scratch> scratch;

}  // namespace

void* compiler_gym_scratch(std::int64_t slot, std::int64_t bytes) {
  const auto number = static_cast<std::size_t>(slot);
  if (scratch.size() <= number) scratch.resize(number + 1);
  auto& part = scratch[number];
  if (part.bytes < bytes) {
    part.memory.reset();
    part.bytes = 0;
    const std::int64_t rounded = (bytes + 63) / 64 * 64;
    part.memory.reset(std::aligned_alloc(64, static_cast<std::size_t>(rounded)));
    if (part.memory == nullptr) throw std::bad_alloc();
    part.bytes = rounded;
  }
  return part.memory.get();
}
