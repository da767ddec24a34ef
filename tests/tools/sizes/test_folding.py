# SPDX-License-Identifier: MIT
"""Equal functions are found wherever they stand and whatever they call."""

from compiler_gym.tools.sizes.folding import count_folded

from .conftest import Build, analyse

SOURCE = """
volatile int seed;
#define WORK(name, by) __attribute__((noinline)) int name(int n) { \\
    int all = by; for (int i = 0; i < n; i++) all += seed * i; return all; }
WORK(one, 5) WORK(filler, 111) WORK(two, 5) WORK(other, 6)
__attribute__((noinline)) int calls_one(int n) { return one(n) + seed; }
__attribute__((noinline)) int calls_two(int n) { return two(n) + seed; }
__attribute__((noinline)) int calls_other(int n) { return other(n) + seed; }
int (*volatile pointer)(int) = two;
int main(int n, char **w) {
  return calls_one(n) + calls_two(n) + calls_other(n) + filler(n) + one(n) + pointer(n); }
"""


def test_callers_of_equal_functions_are_equal(build: Build) -> None:
    analysis = analyse(build(SOURCE, "clang-22 -O1 -fuse-ld=lld"))
    sizes = dict(zip(analysis.names, analysis.items.padded_size.tolist(), strict=True))
    unwind = dict(zip(analysis.names, analysis.unwind.tolist(), strict=True))
    pairs = [("two", "one"), ("calls_two", "calls_one")]
    expected = 0
    for names in pairs:
        later = max(names, key=lambda name: analysis.items.start[analysis.names.index(name)])
        expected += sizes[later] + unwind[later] + 8
    assert count_folded(analysis, is_safe=False) == expected


def test_a_function_whose_address_is_used_stays_apart(build: Build) -> None:
    analysis = analyse(build(SOURCE, "clang-22 -O1 -fuse-ld=lld"))
    assert count_folded(analysis, is_safe=True) == 0


def test_nothing_is_counted_for_other_machines(build: Build) -> None:
    assert count_folded(analyse(build(SOURCE, "riscv64-linux-gnu-gcc")), is_safe=False) is None
