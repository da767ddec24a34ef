// Runs three versions of a function on many generated inputs: unoptimised, with the level and with
// the decision. Memory, calls and return values must be the same for all of them.
// Linked with functions generated for the program under test: hunt_call and its table.

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ARENA ((unsigned char *)0x20000000)
enum { SIZE = 1 << 14, GLOBAL = 4096, WORDS = 32, ENOUGH = 500, SECONDS = 5 };

extern uint64_t hunt_call(int which, const uint64_t *words);
extern unsigned char *const hunt_globals[];
extern const int hunt_global_count, hunt_constant_count, hunt_versions;
extern const uint64_t hunt_constants[];
extern const char hunt_kinds[];

static unsigned char first[SIZE];
static uint64_t words[WORDS], seed, history;
static sigjmp_buf back;
static unsigned char *counters, *counters_end, *reached;

void __sanitizer_cov_8bit_counters_init(unsigned char *start, unsigned char *stop) {
  counters = start;
  counters_end = stop;
}

// A sanitizer calls this for each of its reports.
static int reports;
void __sanitizer_report_error_summary(const char *summary) {
  (void)summary;
  reports++;
}

static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static uint64_t draw(void) { return mix(seed += 0x9e3779b97f4a7c15u); }

void hunt_note(uint64_t value) { history = mix(history ^ value) + 1; }

static uint64_t locate(uint64_t value) {
  if (value - (uint64_t)ARENA < SIZE || value < 4096) return value;
  for (int i = 0; i < hunt_global_count; i++)
    if (value - (uint64_t)hunt_globals[i] < GLOBAL)
      return ((uint64_t)i << 32) + value - (uint64_t)hunt_globals[i];
  return 1;  // elsewhere, such as on the stack, whose layout differs between versions
}

void hunt_note_pointer(uint64_t value) { hunt_note(locate(value)); }

static uint64_t make_pointer(uint64_t bits) { return (uint64_t)ARENA + (bits % (SIZE / 2) & ~7ull); }

static uint64_t make_number(uint64_t bits) {
  switch (bits >> 61) {
  case 0: return bits;
  case 1: return bits % 3;
  case 2: return -(bits % 4);
  case 3: return 1ull << (bits % 64);
  case 4: return hunt_constant_count ? hunt_constants[bits % hunt_constant_count] + bits / 64 % 3 - 1 : bits % 16;
  default: return bits % 256;
  }
}

// The results and writes of an external function depend only on the calls so far.
uint64_t hunt_answer(int writes, int wants_pointer) {
  uint64_t bits = mix(history ^ seed);
  if (writes) ARENA[bits % SIZE] ^= 1;
  return wants_pointer ? make_pointer(bits) : make_number(bits);
}

// The target of function pointers. It reads no arguments, because their number is unknown.
static uint64_t callback(void) {
  hunt_note(2);
  return hunt_answer(1, history & 1);
}

static void leave(int number) {
  (void)number;
  siglongjmp(back, 1);
}

static uint64_t make_byte(uint64_t bits) {
  if (bits >> 62 && hunt_constant_count) return hunt_constants[bits % hunt_constant_count] & 0xff;
  return make_number(draw()) & 0xff;
}

// Fills memory with pointers, numbers of 8 and 4 bytes, and text with the constants that the
// function compares with. Of four inputs one is mostly text, one mostly function pointers, and one
// mostly pointers and nulls, like a linked list.
static void fill(unsigned char *to, int size) {
  int mode = draw() % 4;
  for (int i = 0; i + 8 <= size; i += 8) {
    uint64_t bits = draw(), value = 0;
    int kind = bits >> 8 & 7;
    if (mode < 3 && bits >> 62) kind = mode == 2 ? 8 : mode ? 3 : 7;
    if (kind == 0) {
      value = make_number(bits);
    } else if (kind < 3) {
      value = make_number(bits) << 32 | (uint32_t)make_number(draw());
    } else if (kind < 5) {
      for (int byte = 0; byte < 8; byte++) value = value << 8 | make_byte(draw());
    } else if (kind < 8 || bits & 1) {
      value = kind == 7 ? (uint64_t)callback : make_pointer(bits >> 16);
    }
    memcpy(to + i, &value, 8);
  }
}

static void put_input(uint64_t number) {
  seed = number * 0x2545f4914f6cdd1du + 1;
  memcpy(ARENA, first, SIZE);
  for (int i = 0; i < hunt_global_count; i++) fill(hunt_globals[i], GLOBAL);
  history = 0;
}

static int run(int which, uint64_t number, uint64_t *result) {
  put_input(number);
  struct itimerval soon = {{0, 0}, {0, 4000}}, never = {{0, 0}, {0, 0}};
  if (sigsetjmp(back, 1)) {
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    return 0;
  }
  setitimer(ITIMER_VIRTUAL, &soon, NULL);
  uint64_t answer = hunt_call(which, words);
  setitimer(ITIMER_VIRTUAL, &never, NULL);
  hunt_note(hunt_kinds[0] == 'p' ? locate(answer) : answer);
  for (int i = 0; i < SIZE; i += 8) hunt_note(*(uint64_t *)(ARENA + i));
  for (int i = 0; i < hunt_global_count; i++)
    for (int at = 0; at < GLOBAL; at += 8) hunt_note(*(uint64_t *)(hunt_globals[i] + at));
  *result = history;
  return 1;
}

int main(int argc, char **argv) {
  (void)argc;
  uint64_t count = strtoull(argv[1], NULL, 10), judged = 0, wrong = 0;
  unsigned char *at = mmap(ARENA, SIZE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  static char stack[1 << 16];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK | SA_NODEFER};
  int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM, SIGTRAP};
  if (at != ARENA) return 2;
  sigaltstack(&other, NULL);
  for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
  long edges = counters_end - counters;
  reached = calloc(edges + 1, 1);
  for (uint64_t number = 1; number <= count && judged < ENOUGH && clock() < SECONDS * CLOCKS_PER_SEC; number++) {
    uint64_t result[3];
    seed = number;
    fill(first, SIZE);
    for (int i = 0; i < WORDS && hunt_kinds[i] && hunt_kinds[i + 1]; i++) {
      uint64_t bits = draw();
      words[i] = hunt_kinds[i + 1] == 'p' ? (bits >> 60 ? make_pointer(bits) : 0)
                 : hunt_kinds[i + 1] == 'n' ? make_pointer(bits) : make_number(bits);
    }
    reports = 0;
    if (edges) memset(counters, 0, edges);
    if (!run(0, number, &result[0])) continue;
    for (long i = 0; i < edges; i++) reached[i] |= counters[i] != 0;
    if (reports) continue;
    judged++;
    printf("%llu\n", (unsigned long long)number);
    for (int which = 1; which < hunt_versions; which++)
      if (!run(which, number, &result[which]) || result[which] != result[0]) {
        printf("wrong %llu %d\n", (unsigned long long)number, which);
        wrong++;
      }
  }
  long covered = 0;
  for (long i = 0; i < edges; i++) covered += reached[i];
  printf("edges %ld %ld\n", covered, edges);
  return wrong != 0;
}
