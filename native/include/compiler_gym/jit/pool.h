// Threads that share the iterations of a parallel loop.
#pragma once

#include <cstdint>

extern "C" {

// What compiled code calls by this name: `body` on parts of [0, count) until all are done. From
// inside a body, or with one thread, it runs here.
using compiler_gym_body = void (*)(void* environment, std::int64_t begin, std::int64_t end);
void compiler_gym_parallel_for(compiler_gym_body body, void* environment, std::int64_t count);

// At least `bytes` bytes of this thread's own, on a border of 64: the same for the same `slot` (0,
// 1, ...) until more are asked for. What they hold is nobody's afterwards.
void* compiler_gym_scratch(std::int64_t slot, std::int64_t bytes);
}

namespace compiler_gym::jit {

// How many threads take part, the caller among them: at first as many as this process may use.
// They are started on first use, again in a forked process.
int thread_count();
void set_thread_count(int count);

}  // namespace compiler_gym::jit
