// Runs each function of two shared objects from the same random states of the processor, and
// compares what they leave: registers, flags, vectors, memory and the caller's stack.
//
//   differential BEFORE.so AFTER.so STATES SEED < TABLE
//
// A line of the table has the name of a function, masks of the general registers, of the flags and
// of the vectors to compare, and the number of the register that points to memory.

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr unsigned stack_words = 8, stack_pointer = 4, memory_bytes = 1024;

struct State {
  std::uint64_t registers[16];
  std::uint64_t flags;
  std::uint64_t stack[stack_words];  // above the return address, where arguments are
  std::uint64_t padding;
  std::uint64_t vectors[16][2];
};

}  // namespace

extern "C" {
State given, left;
void (*target)();
void call_target();
}

#define EACH_REGISTER(use)                                                                    \
  use("rax", 0) use("rcx", 8) use("rdx", 16) use("rbx", 24) use("rbp", 40) use("rsi", 48)     \
      use("rdi", 56) use("r8", 64) use("r9", 72) use("r10", 80) use("r11", 88) use("r12", 96) \
          use("r13", 104) use("r14", 112) use("r15", 120)
#define EACH_NUMBER(use)                                                                        \
  use(0) use(1) use(2) use(3) use(4) use(5) use(6) use(7) use(8) use(9) use(10) use(11) use(12) \
      use(13) use(14) use(15)
#define LOAD(name, offset) "mov given+" #offset "(%rip), %" name "\n"
#define STORE(name, offset) "mov %" name ", left+" #offset "(%rip)\n"
#define LOAD_VECTOR(n) "movups given+208+16*" #n "(%rip), %xmm" #n "\n"
#define STORE_VECTOR(n) "movups %xmm" #n ", left+208+16*" #n "(%rip)\n"
#define PUSH_WORD(n) "push given+136+8*7-8*" #n "(%rip)\n"
#define POP_WORD(n) "pop left+136+8*" #n "(%rip)\n"

asm(".globl call_target\ncall_target:\n"
    "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\nsub $8, %rsp\n" PUSH_WORD(0)
        PUSH_WORD(1) PUSH_WORD(2) PUSH_WORD(3) PUSH_WORD(4) PUSH_WORD(5) PUSH_WORD(6) PUSH_WORD(7)
            EACH_NUMBER(LOAD_VECTOR) "push given+128(%rip)\npopf\n" EACH_REGISTER(LOAD)
                "call *target(%rip)\n" EACH_REGISTER(STORE) "mov %rsp, left+32(%rip)\n"
                "pushf\npop left+128(%rip)\ncld\n" EACH_NUMBER(STORE_VECTOR) POP_WORD(0) POP_WORD(1)
                    POP_WORD(2) POP_WORD(3) POP_WORD(4) POP_WORD(5) POP_WORD(6) POP_WORD(7)
    "add $8, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");

namespace {

alignas(64) std::uint8_t memory[memory_bytes];
std::string running;

std::uint64_t next(std::uint64_t& seed) {
  std::uint64_t z = seed += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A number for which flags are likely to differ, or any.
std::uint64_t choose(std::uint64_t& seed) {
  const std::uint64_t any = next(seed);
  constexpr std::uint64_t edges[] = {0,    1,          2,          ~0ull,     0x80,
                                     0x7f, 0x80000000, 0x7fffffff, 1ull << 63};
  switch (any & 3) {
    case 0: return edges[(any >> 8) % std::size(edges)];
    case 1: return any >> 56;
    case 2: return any >> 32;
    default: return any;
  }
}

void fill(std::uint64_t seed, unsigned pointer) {
  for (auto& value : given.registers) value = choose(seed);
  given.registers[pointer] = reinterpret_cast<std::uint64_t>(memory + memory_bytes / 2);
  given.flags = (next(seed) & 0x8d5) | 2;
  for (auto& word : given.stack) word = choose(seed);
  for (auto& vector : given.vectors)
    for (auto& word : vector) word = next(seed);
  for (unsigned i = 0; i < memory_bytes; i += 8) {
    const std::uint64_t word = next(seed);
    std::memcpy(memory + i, &word, 8);
  }
}

// Return the first thing that differs, or an empty text.
std::string compare(const State& one, const State& other, unsigned registers, unsigned flags,
                    unsigned vectors) {
  for (unsigned i = 0; i < 16; ++i) {
    if ((registers >> i & 1 || i == stack_pointer) && one.registers[i] != other.registers[i])
      return "register " + std::to_string(i);
    if (vectors >> i & 1 && std::memcmp(one.vectors[i], other.vectors[i], 16) != 0)
      return "vector " + std::to_string(i);
  }
  if ((one.flags ^ other.flags) & flags) return "flags";
  return std::memcmp(one.stack, other.stack, sizeof one.stack) != 0 ? "stack" : "";
}

void report_crash(int) {
  running += " crashes\n";
  _exit(write(1, running.data(), running.size()) > 0 ? 1 : 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  void* const libraries[] = {dlopen(argv[1], RTLD_NOW), dlopen(argv[2], RTLD_NOW)};
  if (!libraries[0] || !libraries[1]) return std::puts(dlerror()), 2;
  static std::uint8_t other_stack[1 << 16];
  const stack_t stack{.ss_sp = other_stack, .ss_flags = 0, .ss_size = sizeof other_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = report_crash;
  action.sa_flags = SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT})
    sigaction(number, &action, nullptr);
  char name[64];
  unsigned registers, flags, vectors, pointer;
  while (std::scanf("%63s %x %x %x %u", name, &registers, &flags, &vectors, &pointer) == 5)
    for (std::uint64_t i = 0; i < std::strtoull(argv[3], nullptr, 0); ++i) {
      const std::uint64_t seed = (std::strtoull(argv[4], nullptr, 0) << 32) + i;
      State results[2];
      std::uint8_t memories[2][memory_bytes];
      for (int side = 0; side < 2; ++side) {
        fill(seed * 0x2545f4914f6cdd1d, pointer);
        target = reinterpret_cast<void (*)()>(dlsym(libraries[side], name));
        if (!target) return std::puts(dlerror()), 2;
        running = name + std::string(side ? " after" : " before") + " the rewrite";
        call_target();
        results[side] = left;
        std::memcpy(memories[side], memory, memory_bytes);
      }
      std::string difference = compare(results[0], results[1], registers, flags, vectors);
      if (difference.empty() && std::memcmp(memories[0], memories[1], memory_bytes) != 0)
        difference = "memory";
      if (!difference.empty())
        return std::printf("%s differs in %s, state %llu\n", name, difference.c_str(),
                           static_cast<unsigned long long>(i)),
               1;
    }
}
