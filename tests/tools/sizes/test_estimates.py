# SPDX-License-Identifier: MIT
"""Estimates are compared with the effect of each remedy: programs are linked with and without."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.tools.sizes import PartSize, measure_file
from compiler_gym.tools.sizes.estimates import count_packed_words
from compiler_gym.tools.sizes.remedies import REMEDIES

from .conftest import Build, estimate

PROGRAMS = Path(__file__).parents[3] / "programs"
CLANG = "clang-22 -O2 -fuse-ld=lld"
EXTRA = "-ffunction-sections -fdata-sections"


def program(functions: int = 40) -> str:
    """Return a program with pointers, equal and unused functions, and strings."""
    lines = ["extern int printf(const char *, ...);", "volatile int seed = 3;"]
    for number in range(functions):
        kind = number % 4
        body = "for (int i = 0; i < n; i++) { a += i * seed; use(&a); }"
        factor = number if kind else 7  # every fourth function equals the others of its kind
        lines += [
            f"__attribute__((noinline)) void use{number}(int *a);",
            f"__attribute__((noinline)) int work{number}(int n, int m) {{",
            f"  int a = m * {factor}; {body.replace('use', 'use0')} return a + {factor}; }}",
        ]
        lines += [
            f"static const int table{number}[30] = {{{number}, 1, 2}};",
            f"int unused{number}(int n) {{ return n * {number + 3} + table{number}[n % 30]; }}",
        ]
    names = ", ".join(f"work{number}" for number in range(functions))
    lines += [
        "__attribute__((noinline)) void use0(int *a) { *a ^= seed; }",
        f"int (*all[])(int, int) = {{{names}}};",
        'const char *texts[] = {"cannot open the file", "the file", "file", "open the file"};',
        "int main(int n, char **w) {",
        '  printf("%s %s", texts[n & 3], "cannot close the file");',
        *(f"  seed += work{number}(n, seed);" for number in range(functions)),
        f"  return all[n % {functions}](n, 3); }}",
    ]
    return "\n".join(lines)


def saved(before: Path, after: Path) -> PartSize:
    old, new = measure_file(before), measure_file(after)
    return PartSize(old.loaded - new.loaded, old.total - new.total)


@pytest.mark.parametrize(
    "command", ["gcc -O1", "gcc -g -O2", "clang-22 -O2 -g -fuse-ld=lld", "aarch64-linux-gnu-gcc -g",
                "arm-linux-gnueabihf-gcc -g", "riscv64-linux-gnu-gcc", "rustc -g"]
)  # fmt: skip
def test_the_saving_of_strip_is_exact(build: Build, tmp_path: Path, command: str) -> None:
    before = build("rs" if command.startswith("rustc") else "c", command)
    prefix = command.partition("gcc")[0] if "-linux-" in command else ""
    after = tmp_path / "stripped"
    subprocess.run([f"{prefix}strip", "-o", str(after), str(before)], check=True)
    assert estimate(before, "strip") == saved(before, after)


@pytest.mark.parametrize(
    ("remedy", "flags", "command", "tolerance"),
    [
        ("packed relocations", "-Wl,-z,pack-relative-relocs", CLANG, 48),
        ("packed relocations", "-Wl,-z,pack-relative-relocs", "gcc -O2", 48),
        ("no unwind tables", "-fno-asynchronous-unwind-tables -fno-unwind-tables", CLANG, 48),
        ("no unwind tables", "-fno-asynchronous-unwind-tables -fno-unwind-tables", "gcc -Os", 48),
        ("remove unused sections", f"{EXTRA} -Wl,--gc-sections", CLANG, 200),
        ("remove unused sections", f"{EXTRA} -Wl,--gc-sections", "gcc -O1", 400),
        ("remove unused sections", f"{EXTRA} -Wl,--gc-sections",
         "clang-22 -O2 -no-pie -fno-pie -fuse-ld=lld", 200),
        ("fold identical functions", "-ffunction-sections -Wl,--icf=all", CLANG, 100),
        ("merge strings", "-Wl,-O2", CLANG, 8),
    ],
)  # fmt: skip
def test_an_estimate_is_near_to_the_effect(
    build: Build, remedy: str, flags: str, command: str, tolerance: int
) -> None:
    source = program()
    before, after = build(source, command), build(source, f"{command} {flags}")
    real = saved(before, after).loaded
    guess = estimate(before, remedy).loaded
    assert real > 0
    assert abs(guess - real) <= tolerance, (guess, real)
    assert guess > real / 2


def test_folding_safely_keeps_functions_whose_addresses_are_used(build: Build) -> None:
    source = program()
    before = build(source, CLANG)
    after = build(source, f"{CLANG} -ffunction-sections -Wl,--icf=safe")
    assert abs(estimate(before, "fold them safely").loaded - saved(before, after).loaded) < 100
    assert estimate(before, "fold identical functions").loaded > 300


@pytest.mark.parametrize("change", ["strip -g -o", "ld -r -o"])
def test_objects_are_not_folded_safely_after_what_the_price_names(
    build: Build, tmp_path: Path, change: str
) -> None:
    (remedy,) = (remedy for remedy in REMEDIES if remedy.name == "fold them safely")
    assert change.rpartition(" -")[0].removesuffix(" -g") in remedy.price
    body = "for (int i = 0; i < n; i++) n += seed; return n;"
    copies = [f"__attribute__((noinline)) int f{i}(int n) {{ {body} }}" for i in range(20)]
    calls = " + ".join(f"f{i}(argc)" for i in range(20))
    main = f"int main(int argc, char **argv) {{ return {calls}; }}"
    source = "\n".join(["volatile int seed = 3;", *copies, main])
    whole = build(source, "clang-22 -O2 -ffunction-sections -c")
    changed = tmp_path / "changed.o"
    linked: list[int] = []
    subprocess.run([*change.split(), changed, whole], check=True)
    for file in (whole, changed):
        for icf in ("none", "safe"):
            output = tmp_path / f"{file.stem}-{icf}"
            command = ["clang-22", "-fuse-ld=lld", f"-Wl,--icf={icf}", file, "-o", output]
            subprocess.run(command, check=True)
            linked.append(measure_file(output).loaded)
    assert linked[0] - linked[1] > 300
    assert linked[2] - linked[3] == 0


def test_the_code_for_aarch64_is_read_too(build: Build) -> None:
    source, command = program(), "aarch64-linux-gnu-gcc -O2"
    before = build(source, command)
    after = build(source, f"{command} {EXTRA} -Wl,--gc-sections")
    guess, real = estimate(before, "remove unused sections").loaded, saved(before, after).loaded
    assert real > 4000
    assert 0.9 * real < guess < 1.1 * real


@pytest.mark.parametrize("program", ["lame", "ispell"])
def test_frame_pointers_are_estimated_from_unwind_entries(tmp_path: Path, program: str) -> None:
    sources = sorted((PROGRAMS / program).glob("*.c"))
    paths = {flag: tmp_path / f"program{flag}" for flag in ("", "-fno-omit-frame-pointer")}
    for flag, path in paths.items():
        command = ["clang-22", "-Oz", "-w", "-flto", "-fuse-ld=lld", *([flag] if flag else [])]
        subprocess.run([*command, *map(str, sources), "-lm", "-o", str(path)], check=True)
    before, after = paths.values()
    guess, real = estimate(before, "frame pointers").loaded, saved(before, after).loaded
    assert real > 700
    assert 0.6 * real < guess < 1.4 * real, (guess, real)


@pytest.mark.parametrize("command", ["clang++-22 -x c++ -Oz -fuse-ld=lld", "g++ -x c++ -O2"])
def test_exceptions_are_estimated_from_tables_and_landing_pads(build: Build, command: str) -> None:
    source = """
        #include <string>
        #include <cstdio>
        #ifdef __cpp_exceptions
        #define FAIL throw 1
        #else
        #define FAIL __builtin_trap()
        #endif
    """ + "\n".join(
        f"""
        __attribute__((noinline)) std::string f{number}(std::string a) {{
          if (a.size() == {number}) FAIL;
          std::string b = a + "{number}"; std::puts(b.c_str()); return b + a; }}
        """
        for number in range(30)
    )
    source += "int main(int n, char **w) { std::string s(w[0]);"
    source += "".join(f"s = f{number}(s);" for number in range(30)) + "return s.size(); }"
    before, after = build(source, command), build(source, f"{command} -fno-exceptions")
    guess, real = estimate(before, "no exceptions").loaded, saved(before, after).loaded
    assert real > 1000
    assert 0.4 * real < guess < 1.4 * real, (guess, real)  # inlining changes as well


def test_panics_are_estimated_from_tables_and_landing_pads(build: Build) -> None:
    source = "rs"
    before = build(source, "rustc -O -C codegen-units=1")
    after = build(source, "rustc -O -C codegen-units=1 -C panic=abort")
    guess, real = estimate(before, "abort on panic").loaded, saved(before, after).loaded
    assert 0.3 * real < guess < 3 * real, (guess, real)


def test_our_policy_is_suggested_with_its_measurements(build: Build) -> None:
    path = build("c", CLANG)
    saving = estimate(path, "our policy")
    assert 0.02 < saving.loaded / measure_file(path).loaded < 0.06


def encode(places: list[int], word: int) -> list[int]:
    """Encode sorted addresses as the ABI describes RELR: an address, then bitmaps."""
    words, rest = list[int](), list(places)
    while rest:
        base = rest.pop(0)
        words.append(base)
        base += word
        while True:
            bits = 0
            while rest and rest[0] < base + (8 * word - 1) * word and not (rest[0] - base) % word:
                bits |= 1 << (rest.pop(0) - base) // word
            if not bits:
                break
            words.append(bits << 1 | 1)
            base += (8 * word - 1) * word
    return words


@given(st.sets(st.integers(0, 3000)), st.sampled_from((4, 8)))
def test_packed_words_are_counted_as_they_are_encoded(slots: set[int], word: int) -> None:
    places = sorted(0x1000 + slot * word for slot in slots)
    assert count_packed_words(places, word) == len(encode(places, word))


def test_variables_of_threads_are_not_called_unused(build: Build) -> None:
    source = """
        __thread int used[900] = {1};
        int main(int count, char **words) { return used[count]; }
    """
    assert estimate(build(source, "gcc -O1"), "remove unused sections").loaded < 900
