# SPDX-License-Identifier: MIT
"""Small sources whose program shows how it was linked: by its output and by marks in its file."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["COUNT", "Pool", "make_pool"]

COUNT = 11
"""Units of a pool, besides those that every pool has."""

_HEAD = """
void note(const char *);
extern int shared_data;
static volatile int seed_# = #;
__attribute__((used)) static const char mark_#[] = "MARK:#.";
"""
_PARTS = {
    "constructor": '__attribute__((constructor)) static void begin_#(void) { note("# begin\\n"); }',
    "early": '__attribute__((constructor(2#))) static void early_#(void) { note("# early\\n"); }',
    "late": '__attribute__((destructor)) static void end_#(void) { note("# ends\\n"); }',
    "plug-in": """static int plug_#(void) { return #; }
__attribute__((used, section("plugs"))) static int (*const entry_#)(void) = plug_#;""",
    "retained plug-in": """static int held_#(void) { return 50 + #; }
__attribute__((used, retain, section("held"))) static int (*const held_entry_#)(void) = held_#;""",
    "by hand": """static void hand_#(void) { note("# by hand\\n"); }
__attribute__((used, section(".init_array"))) static void (*by_hand_#)(void) = hand_#;""",
    "retained": '__attribute__((used, retain)) static const char kept_#[] = "KEEP:#.";',
    "unused function": '__attribute__((used)) static void unused_#(void) { note("USED:#.\\n"); }',
    "weak": "__attribute__((weak)) int pace(void) { return #; }",
    "weak data": "__attribute__((weak)) int weak_data = #;",
    "alias": 'int other_#(void) __attribute__((alias("value_#")));',
    "common": "int total;",
    "protected": '__attribute__((visibility("protected"))) int guarded_#(void) { return seed_#; }',
    "hidden": '__attribute__((visibility("hidden"))) int hidden_#(void) { return seed_#; }',
    "placed": '__attribute__((section(".text.hot"))) int hot_#(void) { return seed_#; }',
    "data": "int data_# = 10 + #; int zero_#; const int fixed_# = #;",
}
_TERMS = {  # Declarations, and a term of what value_# returns.
    "thread": ("__thread int local_# = #;", "(local_# += 1)"),
    "file asm": (
        'asm(".data\\n.globl word_#\\nword_#: .long #\\n.text"); extern int word_#;',
        "word_#",
    ),
    "asm function": (
        'asm(".text\\n.globl ret_#\\n.type ret_#,@function\\nret_#: movl $#, %eax\\nret");'
        " int ret_#(void);".replace(",#f", ",%f"),
        "ret_#()",
    ),
    "clobber": (
        'static int clobber_#(int x) { asm volatile("xorl %%ebx, %%ebx\\n\\txorl %%r12d, %%r12d"'
        ' : "+r"(x) : : "rbx", "r12", "r13", "memory"); return x; }',
        "clobber_#(seed_#)",
    ),
    "ifunc": (
        "static int choice_#(void) { return #; } static void *choose_#(void) { return choice_#; }"
        ' int chosen_#(void) __attribute__((ifunc("choose_#")));',
        "chosen_#()",
    ),
    "copies": (
        "void *memcpy(void *, const void *, unsigned long); struct big_# { int all[40]; };"
        " struct big_# from_# = {{#, #}}, to_#;",
        "(memcpy(&to_#, &from_#, sizeof to_#), to_#.all[1])",
    ),
    "twin": ("int twin_#(void) { return seed_# * 3; } int same_#(void) { return seed_# * 3; }",
             "(twin_# == same_#)"),
    "step": ("__attribute__((weak)) int pace(void);", "(pace ? pace() : 0)"),
}  # fmt: skip
_CXX = """
template <int N> struct Count { static int made; Count() { made += N; } };
template <int N> int Count<N>::made = 0;
inline int next() { static int number; return ++number; }
struct Base { virtual int kind() { return 1; } virtual ~Base() {} };
struct Loud# : Base { Loud#() { note("# object\\n"); } ~Loud#() { note("# object ends\\n"); }
  int kind() override { return #; } };
static Loud# loud; static Count<2> counted;
static int thrown() { try { throw int(#); } catch (int caught) { return caught; } }
"""
_ASSEMBLY = """
  .section .rodata
  .asciz "MARK:#."
text: .asciz "# in assembly\\n"
  .text
  .globl value_#
  .type value_#,@function
value_#: movl $#, %eax
  ret
begin: subq $8, %rsp
  leaq text(%rip), %rdi
  call note@PLT
  addq $8, %rsp
  ret
  .section .init_array,"aw"
  .quad begin
  .section .note.GNU-stack,"",@progbits
"""
_CORE = r"""
long write(int, const void *, unsigned long);
void _exit(int);
void note(const char *text) { unsigned long n = 0; while (text[n]) n++; write(1, text, n); }
int shared_data = 5;
__attribute__((used)) static const char mark_core[] = "MARK:core.";
void first(void) { note("first\n"); }
void last(void) { note("last\n"); }
__attribute__((force_align_arg_pointer)) void entry(void) { note("entry\n"); _exit(3); }
"""
_LIBRARY = """
unsigned long strlen(const char *text) { unsigned long n = 0; while (text[n]) n++; return n; }
void *memcpy(void *to, const void *from, unsigned long n) {
  char *t = to; const char *f = from; while (n--) *t++ = *f++; return to; }
void *memset(void *to, int c, unsigned long n) { char *t = to; while (n--) *t++ = c; return to; }
__attribute__((used)) static const char mark_own[] = "MARK:own.";
"""
_WRAP = """
void note(const char *); int __real_pace(void) __attribute__((weak));
int __wrap_pace(void) { note("wrapped\\n"); return 1000 + (__real_pace ? __real_pace() : 0); }
"""
_MAIN = r"""
int printf(const char *, ...); int fflush(void *); unsigned long strlen(const char *);
void note(const char *);
#define WEAK __attribute__((weak))
#define SPAN __attribute__((weak, visibility("hidden")))
#ifndef TEXT
#define TEXT "none"
#endif
extern int (*const __start_plugs[])(void) SPAN; extern int (*const __stop_plugs[])(void) SPAN;
extern int (*const __start_held[])(void) SPAN; extern int (*const __stop_held[])(void) SPAN;
extern char mine_start[] SPAN, mine_end[] SPAN; extern int weak_data WEAK; WEAK int pace(void);
int dyn_value(void) WEAK; extern char konst[] WEAK; int total; extern int alias_value(void) WEAK;
%s
int main(int count, char **words) {
  note("main\n");
%s
  for (int (*const *p)(void) = __start_plugs; p != __stop_plugs; p++) printf("plug %%d\n", (*p)());
  for (int (*const *p)(void) = __start_held; p != __stop_held; p++) printf("held %%d\n", (*p)());
  printf("pace %%d weak %%d total %%d\n", pace ? pace() : -1, &weak_data ? weak_data : -1, total);
  printf("mine %%d dyn %%d konst %%ld\n", (int)(mine_end - mine_start), dyn_value ? dyn_value() : 0,
         (long)(konst ? 1 : 0));
  printf("alias %%d text %%s %%lu\n", alias_value ? alias_value() : -1, TEXT, strlen(words[0]) > 0);
  fflush(0);
  return count - 1;
}
"""
_HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  if (!library) { puts("not loaded"); return 1; }
  char name[20];
  for (int n = 1; n < 20; n++) {
    sprintf(name, "value_%d", n);
    int (*value)(void) = (int (*)(void))dlsym(library, name);
    if (value) { printf("%s %d\n", name, value()); fflush(stdout); }
  }
  return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Pool:
    """Sources by file name, their options, and their references to each other."""

    texts: Mapping[str, str]
    options: tuple[str, ...]  # of every compilation
    needs: Mapping[str, tuple[str, ...]]  # objects that an object has strong references to
    native: frozenset[str]  # sources that gcc compiles

    @property
    def units(self) -> list[str]:
        """Return the sources that a command may take some of."""
        return list(self.needs)


def make_pool(group: int) -> Pool:
    """Return the sources of the cases of `group`."""
    rng = random.Random(f"pool {group}")
    texts = {"core.c": _CORE, "own.c": _LIBRARY, "wrap.c": _WRAP, "host.c": _HOST}
    texts["dyn.c"] = "int dyn_value(void) { return 77; }\n"
    needs: dict[str, tuple[str, ...]] = {}
    native: set[str] = set()
    strong = rng.randint(1, COUNT)
    is_mixed = rng.random() < 0.25  # Units without IR decide the order of many sections.
    for number in range(1, COUNT + 1):
        kind = rng.choices(("c", "cpp", "s"), (8, 2, is_mixed))[0]
        name = f"u{number}.{kind}"
        others = rng.sample(sorted(needs), min(len(needs), rng.choice((0, 0, 1, 1, 2))))
        others = [] if kind == "s" else others
        texts[name] = _unit_text(rng, number, kind, others, number == strong, is_mixed)
        needs[name] = tuple(others)
        if kind == "c" and is_mixed and rng.random() < 0.2:
            native.add(name)
    texts["main.c"] = _main_text()
    flags = ["-g", "-fcommon", "-ffunction-sections", "-fno-plt", "-fvisibility=hidden", "-fno-pic"]
    weights = (0.2, 0.7, 0.3, 0.1, 0.05, 0.0)
    chosen = [flag for flag, chance in zip(flags, weights, strict=True) if rng.random() < chance]
    return Pool(texts, ("-fPIC", "-w", *chosen), needs, frozenset(native))


def _unit_text(
    rng: random.Random, number: int, kind: str, needs: list[str], strong: bool, mixed: bool
) -> str:
    if kind == "s":
        return _ASSEMBLY.replace("#", str(number))
    parts = rng.sample(sorted(_PARTS), rng.randint(1, 6))
    terms = rng.sample(sorted(_TERMS), rng.randint(0, 3))
    terms = [name for name in terms if mixed or name not in ("file asm", "asm function")]
    if kind == "cpp":
        parts = [name for name in parts if name not in ("common", "alias")]
        terms = [name for name in terms if name not in ("ifunc", "copies")]
    lines = [_HEAD, *(_PARTS[name] for name in parts), *(_TERMS[name][0] for name in terms)]
    if strong and "weak" not in parts and "step" not in terms:
        lines.append("int pace(void) { return 100 + #; }")
    sum_of = ["seed_#", "shared_data", *(_TERMS[name][1] for name in terms)]
    for needed in needs:
        sum_of.append(f"value_{_number(needed)}()")
        lines.append(f"int value_{_number(needed)}(void);")
    if kind == "cpp":
        sum_of += ["thrown()", "loud.kind()", "Count<2>::made", "(next() > 0)"]
    lines.append(f"int value_#(void) {{ return {' + '.join(sum_of)}; }}")
    if kind == "cpp":
        lines = ['extern "C" {', *lines[:-1], "}", _CXX, 'extern "C"', lines[-1]]
    return "\n".join(lines).replace("#", str(number))


def _number(name: str) -> int:
    return int(name[1:].partition(".")[0])


def _main_text() -> str:
    numbers = range(1, COUNT + 1)
    declared = "\n".join(f"extern int value_{n}(void) WEAK;" for n in numbers)
    called = "\n".join(f'  if (value_{n}) printf("{n}: %d\\n", value_{n}());' for n in numbers)
    return _MAIN % (declared, called)
