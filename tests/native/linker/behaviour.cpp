// What code generation can break without changing a plain program: each part prints what it did.
#include <dlfcn.h>
#include <unwind.h>
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define SEPARATE extern "C" __attribute__((noinline, visibility("default")))

namespace {

thread_local long per_thread = 5;
std::jmp_buf jump;
volatile std::sig_atomic_t signals;
std::set<std::string> chains, registers;

// Add a function of this program that is on the stack to a chain, if its name is exported, and note
// the registers that `main` gets back from the functions that it calls.
_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* chain) {
  int is_before = 0;
  const auto place = _Unwind_GetIPInfo(context, &is_before) - !is_before;
  void* start = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(place));
  Dl_info info;
  if (!start || !dladdr(start, &info) || info.dli_saddr != start || !info.dli_sname)
    return _URC_NO_REASON;
  auto& names = *static_cast<std::string*>(chain);
  names += std::string(" < ") + info.dli_sname;
  if (!is_before && names.ends_with(" < main")) {
    std::string values;
    for (int number : {3, 6, 12, 13, 14, 15})
      values += std::to_string(_Unwind_GetGR(context, number)) + ' ';
    registers.insert(values);
  }
  return _URC_NO_REASON;
}

void note_stack() {
  std::string chain;
  _Unwind_Backtrace(add_frame, &chain);
  const auto first = chain.find(" < deep"), last = chain.find(" < main");
  // Nothing after `main`, which the C library differs in.
  if (last == std::string::npos)
    chains.insert("main is not found:" + chain);
  else
    chains.insert(first == std::string::npos ? "" : chain.substr(first, last - first));
}

void on_trap(int) { note_stack(); }
void on_signal(int) { signals = signals + 1; }

}  // namespace

SEPARATE long leaf(const long* values, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i] * (i % 3 == 1 ? -1 : 7);
  if (sum == 77) throw std::runtime_error("seventy-seven");
  return sum;
}

SEPARATE void fill(long* values, int count, long seed) {
  for (int i = 0; i < count; ++i) values[i] = seed = seed * 1103515245 + 12345;
}

SEPARATE void mix(long* one, long* two, long* three, long seed) {
  *one = seed, *two = seed ^ 3, *three = *one * 5;
}

// Frames of several sizes that save all registers; one calls the next.
#define DEEP(name, size, next)                                                                    \
  SEPARATE long name(long a, long b, long c, long d, long e) {                                    \
    long near[4], one, two, three, far[size];                                                     \
    fill(far, size, a), fill(near, 4, b), mix(&one, &two, &three, a);                             \
    const long first = leaf(far, size), second = leaf(near, 4);                                   \
    near[0] = first ^ far[1], near[2] = second + far[size - 1], far[size / 2] = c;                \
    mix(&three, &two, &one, second);                                                              \
    const long third = next(a + 1, b ^ 2, c * 3, d - first, e ^ second);                          \
    mix(&one, &three, &two, third);                                                               \
    return third + a * first + b * second + c + d * e + leaf(near, 4) + leaf(far, 2) + one + two; \
  }
SEPARATE long bottom(long a, long b, long c, long d, long e) { return a - b + c - d + e; }
DEEP(deep8, 3, bottom)
DEEP(deep7, 40, deep8)
DEEP(deep6, 33, deep7)
DEEP(deep5, 20, deep6)
DEEP(deep4, 50, deep5)
DEEP(deep3, 28, deep4)
DEEP(deep2, 30, deep3)
DEEP(deep1, 25, deep2)

namespace {

// Let the processor trap after each instruction, and look at the stack there.
void step_through() {
  std::signal(SIGTRAP, on_trap);
  asm volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" ::: "cc", "memory");
  const long result = deep1(1, 2, 3, 4, 5);
  asm volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" ::: "cc", "memory");
  std::printf("stacks %ld, %zu values of registers in main\n", result, registers.size());
  for (const std::string& chain : chains) std::printf(" %s\n", chain.c_str());
}

struct Noted {
  const char* name;
  ~Noted() { std::printf(" end of %s\n", name); }
};

long throw_at(int depth, long a, long b) {
  Noted noted{"a frame"};
  long values[3] = {a, b, a ^ b};
  if (depth == 0) throw a * b;
  try {
    return throw_at(depth - 1, b + 1, a - 1) + leaf(values, 3);
  } catch (long caught) {
    std::printf(" caught %ld with %ld %ld\n", caught, a, b);
    if (depth % 2) throw;
    throw caught + leaf(values, 3);
  }
}

void catch_all() {
  try {
    throw_at(5, 3, 4);
  } catch (long caught) {
    std::printf("exceptions %ld\n", caught);
  }
  try {
    const long eleven[] = {11};
    leaf(eleven, 1);
  } catch (const std::exception& error) {
    std::printf("exceptions %s\n", error.what());
  }
}

void jump_out(int depth, volatile long* sum) {
  *sum += depth;
  if (depth == 9) std::longjmp(jump, 3);
  jump_out(depth + 1, sum);
  *sum += 1000;
}

void jump_back() {
  volatile long sum = 0;
  const int code = setjmp(jump);
  if (code == 0) jump_out(0, &sum);
  std::printf("longjmp %d %ld\n", code, sum);
}

void run_threads() {
  std::vector<long> results(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i, &results] {
      for (int j = 0; j < 1000; ++j) per_thread += j % (i + 2);
      results[i] = per_thread;
    });
  for (std::thread& thread : threads) thread.join();
  for (long result : results) std::printf("thread %ld\n", result);
  std::printf("main thread %ld\n", per_thread);
}

void raise_signals() {
  std::signal(SIGUSR1, on_signal);
  for (int i = 0; i < 3; ++i) std::raise(SIGUSR1);
  std::printf("signals %d\n", int(signals));
}

void call_indirectly() {
  long (*const table[])(long, long, long, long, long) = {deep6, bottom, deep8, deep7};
  unsigned long sum = 0;
  for (int i = 0; i < 12; ++i) sum = sum * 31 + table[(i * 7) % 4](i, 1, 2, 3, sum);
  std::printf("indirect %lu\n", sum);
}

struct Numbers {
  struct promise_type {
    long value = 0;
    Numbers get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  ~Numbers() { handle.destroy(); }
};

Numbers count_up(long from, long limit) {
  Noted noted{"a coroutine"};
  for (long i = from; i < limit; i += 1 + i % 3) co_yield i* i;
  throw std::out_of_range("limit");
}

void resume() {
  Numbers numbers = count_up(2, 20);
  try {
    while (true) {
      numbers.handle.resume();
      std::printf("coroutine %ld\n", numbers.handle.promise().value);
    }
  } catch (const std::out_of_range& error) {
    std::printf("coroutine ended: %s\n", error.what());
  }
}

void assemble() {
  unsigned long kept = 7, product;
  asm("mov $6, %%ebx\n imul %%rbx, %1\n mov %1, %0" : "=r"(product), "+r"(kept)::"rbx", "cc");
  unsigned low, high;
  asm("mov $0x1234, %%eax\n movzbl %%ah, %0\n movzbl %%al, %1" : "=&Q"(high), "=&Q"(low)::"eax");
  std::printf("assembly %lu %lu %x %x\n", product, kept, low, high);
}

}  // namespace

// With an argument, a debugger can watch.
int main(int count, char**) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (count > 1) return deep1(1, 2, 3, 4, 5) == 0;
  step_through();
  catch_all();
  jump_back();
  run_threads();
  raise_signals();
  call_indirectly();
  resume();
  assemble();
}
