// Threads that share the iterations of a parallel loop.
#pragma once

#include <cstdint>

extern "C" {

// Run `body` on all parts of [0, count). Compiled code calls this function by name. Inside a body,
// or with one thread, it runs on the calling thread.
using compiler_gym_body = void (*)(void* environment, std::int64_t begin, std::int64_t end);
void compiler_gym_parallel_for(compiler_gym_body body, void* environment, std::int64_t count);

// Return at least `bytes` bytes of thread-local memory, aligned to 64: the same for the same
// `slot` (0, 1, ...) until a larger size is requested. The contents are not preserved.
void* compiler_gym_scratch(std::int64_t slot, std::int64_t bytes);
}

namespace compiler_gym::jit {

// The number of threads, including the caller: initially the number of cores that this process may
// use. They are started on first use, and again in a forked process.
int thread_count();
void set_thread_count(int count);

}  // namespace compiler_gym::jit
