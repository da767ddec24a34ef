# SPDX-License-Identifier: MIT
"""``compiler-gym cc --recipe``: every call of a build becomes the compiler's, and it is smaller."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.builds import SET_APART
from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.tools.tune import recipe_named, tuner_named
from compiler_gym.tools.tune.commands import recipes as _recipes
from compiler_gym.tools.tune.commands.recipes import (
    find_kept_file,
    keep_templates,
    run_known_compiler,
    words_with_recipe,
)
from tests.command_line import Run
from tests.stand_ins import stand_in

pytestmark = pytest.mark.skipif(
    shutil.which("clang-22") is None or shutil.which("ld.lld-22") is None,
    reason="needs clang-22 and lld-22",
)

MAKEFILE = """
run: main.o libpart.a
\t$(CC) -o $@ main.o -L. -lpart -lm
libpart.a: part.o
\tar rcs $@ $^
%.o: %.c
\t$(CC) -O2 -Wall -Werror -c -o $@ $<
"""
PART = """
int part(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 7 ? i * n : i - n;
    return sum;
}
int unused(int n) { return part(n) * part(n + 1); }
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def became(
    monkeypatch: pytest.MonkeyPatch, verb: str, *arguments: str, name: str = "small"
) -> list[str] | None:
    """Return what a call becomes at once; None where it does not."""
    found: list[list[str]] = []
    with monkeypatch.context() as now:
        now.setattr("os.execvp", stand_in(lambda program, words: found.append(words)))
        run_known_compiler(verb, name, arguments)
    if found and found[0][1:2] == ["--compile"]:
        return found[0][2:]
    return found[0] if found else None


def code_of(program: Path) -> bytes:
    """Return the machine code of a linked file."""
    only = ["llvm-objcopy-22", "-O", "binary", "--only-section=.text", program, f"{program}.text"]
    subprocess.run(only, check=True)
    return Path(f"{program}.text").read_bytes()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_makefile_builds_what_pasting_the_recipe_builds(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "part.c").write_text(PART)
    (tmp_path / "main.c").write_text("int part(int);\nint main(void) { return part(5); }\n")
    cc = "CC=compiler-gym cc --recipe small"
    subprocess.run(["make", cc], cwd=tmp_path, check=True, capture_output=True)
    recipe = recipe_named("small")
    words = tuner_named("llvm").plain_words(recipe.plan)
    pasted = [*words, "main.c", "part.c", "-o", "pasted"]
    subprocess.run(pasted, cwd=tmp_path, check=True)
    made, wanted = (code_of(tmp_path / name) for name in ("run", "pasted"))
    assert len(made) == len(wanted)  # addresses of data differ, because one has symbols
    plain = ["clang-22", "-Oz", "main.c", "part.c", "-o", "plain"]
    subprocess.run(plain, cwd=tmp_path, check=True)
    assert len(made) < len(code_of(tmp_path / "plain"))


def test_what_a_call_becomes_depends_on_what_it_makes() -> None:
    compiles = words_with_recipe("cc", "small", ["-c", "x.c"])
    assert "-fembed-bitcode=bitcode" in compiles
    assert not [word for word in compiles if word.startswith("-Wl,")]
    links = words_with_recipe("cc", "small", ["x.o", "-o", "x"])
    assert "-Wl,--gc-sections" in links
    assert "-Wl,--strip-all" not in links
    partial = words_with_recipe("cc", "small", ["-r", "x.o", "-o", "y.o"])
    assert "-flto" not in partial
    assert "-Wl,--gc-sections" not in partial
    behind = words_with_recipe("cc", "small", ["-c", "--", "-x.c"])
    assert behind[-2:] == ["--", "-x.c"]
    for question in (["--version"], ["-E", "x.c"], ["-S", "x.c"], ["-v"]):
        words = words_with_recipe("cc", "small", question)
        assert words[-len(question) :] == question
        assert "-flto" not in words
    assert "--driver-mode=g++" in words_with_recipe("cxx", "small", ["-c", "x.cc"])


def test_the_second_call_is_known_and_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (["-c", "x.c"], ["x.o", "-o", "conftest"], ["-E", "x.c"]):
        words = words_with_recipe("cc", "small", arguments)
        assert became(monkeypatch, "cc", *arguments) == words


def test_what_is_not_known_or_kept_is_left_to_the_library(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    assert became(monkeypatch, "cc", "-c", "x.c") is None
    words_with_recipe("cc", "small", ["-c", "x.c"])
    assert became(monkeypatch, "cc", "-r", "x.o") is None
    assert became(monkeypatch, "cxx", "-c", "x.c") is None
    assert became(monkeypatch, "cc", "-c", "x.c") is not None
    (kept,) = cache.rglob("recipe-words/*")
    whole = kept.read_bytes()
    changed = whole.replace(b" \0", b"1 \0", 1)
    for damaged in (b"", b"[]", whole[:40], whole[:-1], whole[:-2] + b"x\0", changed):
        kept.write_bytes(damaged)
        assert became(monkeypatch, "cc", "-c", "x.c") is None, damaged
    kept.write_bytes(whole)
    monkeypatch.setenv("COMPILER_GYM_CC_OUTPUT", "kept")
    assert became(monkeypatch, "cc", "-c", "x.c") is None


def test_a_recipe_of_no_use_here_is_refused(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="there are small"):
        words_with_recipe("cc", "tiny", ["-c", "x.c"])
    ran = cli("cc", "--recipe")
    assert ran.status == 2
    assert "--recipe needs a name" in ran.errors
    monkeypatch.setattr(_recipes.platform, "machine", lambda: "riscv64")
    with pytest.raises(PlanError, match="is for x86_64, but this machine is riscv64"):
        words_with_recipe("cc", "small", ["-c", "x.c"])


PLAIN_CALLS = [
    ("cc", "-c", "x.c"),
    ("cc", "-O2", "-I", "in clude", "-DA=b c", "-MD", "-MF", "x.d", "-c", "-o", "x.o", "x.c"),
    ("cc", "--version"),
    ("cc", "-E", "x.c"),
    ("cc", "-S", "x.c", "-c"),
    ("cxx", "-c", "x.cc", "y.c"),
    ("cc",),
    ("cc", "-v"),
    ("cc", "-o", "conftest", "-g", "conftest.c", "-lm"),
    ("cxx", "x.o", "libx.a", "-oconftest"),
]
"""What the compiled driver does alone."""
OTHER_CALLS = [
    ("cc", "x.o", "-o", "x"),
    ("cc", "x.c", "-o", "x"),
    ("cc", "x.o", "-o", "conftest", "-fuse-ld=gold"),
    ("cc", "-Wl,--version"),
    ("cc", "-Xlinker", "--version"),
    ("cc", "-c"),
    ("cc", "-c", "x.cc"),
    ("cc", "-c", "x.s"),
    ("cc", "-c", "-x", "c++", "x.c"),
    ("cc", "-c", "-emit-llvm", "x.c"),
    ("cc", "-c", "-dumpdir", "x", "x.c"),
    ("cc", "-c", "@x.c"),
    ("cc", "-c", "--", "x.c"),
    ("cc", "-r", "-c", "x.c"),
]
"""What it leaves to the library."""


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Run a compiled driver that stands beside a library which only says that it was called."""
    monkeypatch.chdir(tmp_path)
    for verb in ("cc", "cxx"):
        shutil.copy(Path(sys.executable).with_name(f"compiler-gym-{verb}"), tmp_path)
    for name, text in (("compiler-gym", "the library"), ("compiler", "the compiler")):
        lines = f'#!/bin/sh\necho {text}\nfor word; do echo "$word"; done\n'
        lines += "[ ! -e wait ] || { touch started; exec sleep 60; }\n"
        (tmp_path / name).write_text(lines)
        (tmp_path / name).chmod(0o755)
    compiler = str(tmp_path / "compiler")
    templates = {
        kind: ([compiler, f"before {kind}"], [] if kind == "nothing" else [f"behind {kind}"])
        for kind in ("object", "nothing", "program", "question")
    }
    for name in ("small", "policy size"):
        for is_cxx in (False, True):
            keep_templates(find_kept_file(name, is_cxx), templates)

    def run(verb: str, *words: str) -> list[str]:
        command = [tmp_path / f"compiler-gym-{verb}", *words]
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()  # fmt: skip

    return run


@pytest.mark.parametrize("words", PLAIN_CALLS)
@pytest.mark.parametrize("asked", [("--recipe", "small"), ("--policy", "size", "--never-larger")])
def test_the_compiled_driver_does_what_the_library_would(
    monkeypatch: pytest.MonkeyPatch,
    drive: Callable[..., list[str]],
    words: tuple[str, ...],
    asked: tuple[str, ...],
) -> None:
    verb, *arguments = words
    wanted = became(monkeypatch, verb, *arguments)
    assert wanted is not None
    assert drive(verb, *asked, *arguments) == ["the compiler", *wanted[1:]]


@pytest.mark.parametrize("words", OTHER_CALLS)
def test_the_compiled_driver_leaves_what_is_not_plain_to_the_library(
    drive: Callable[..., list[str]], words: tuple[str, ...]
) -> None:
    verb, *arguments = words
    called = ["the library", verb, "--policy", "size", *arguments]
    assert drive(verb, "--policy", "size", *arguments) == called


def test_the_compiled_driver_links_by_a_recipe(drive: Callable[..., list[str]]) -> None:
    arguments = ("x.o", "-lm", "-o", "x")
    program = ["the compiler", "before program", *arguments, "behind program"]
    assert drive("cc", "--recipe", "small", *arguments) == program
    one, other, linked = _split(drive("cxx", "--recipe", "small", "x.cc", "-DA", "y.c", "z.o"))
    before, after = ["before object", "-DA", "-Qunused-arguments", "-c"], ["behind object"]
    assert one[:-2] + one[-1:] == [*before, "x.cc", "-o", *after]
    assert other[:-2] + other[-1:] == [*before, "y.c", "-o", *after]
    assert linked == ["before program", one[-2], "-DA", other[-2], "z.o", "behind program"]
    assert not Path(one[-2]).parent.exists()
    assert drive("cc", "--recipe", "small", "x.c", "-MD")[0] == "the library"


def _split(lines: list[str]) -> list[list[str]]:
    text = "\n".join(lines).removeprefix("the compiler\n")
    return [call.split("\n") for call in text.split("\nthe compiler\n")]


def test_what_is_not_recorded_needs_no_library(
    drive: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COMPILER_GYM_CC", str(tmp_path / "compiler"))
    assert drive("cc", "-c", "x.c") == ["the compiler", "-c", "x.c"]
    assert drive("cc", "--help") == ["the library", "cc", "--help"]
    monkeypatch.setenv("COMPILER_GYM_CC_OUTPUT", "kept")
    assert drive("cc", "-c", "x.c") == ["the library", "cc", "-c", "x.c"]
    monkeypatch.setenv("COMPILER_GYM_CC_OUTPUT", "")
    monkeypatch.setenv("COMPILER_GYM_CC", "missing-compiler")
    assert drive("cc", "-c", "x.c") == ["the library", "cc", "-c", "x.c"]  # it reports the error


def test_a_signal_leaves_no_objects_behind(
    drive: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "wait").touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    with subprocess.Popen([tmp_path / "compiler-gym-cc", "--recipe", "small", "x.c"]) as process:
        while not Path("started").exists():
            time.sleep(0.01)
        assert list((tmp_path / "scratch").iterdir())
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
    assert not list((tmp_path / "scratch").iterdir())


def test_the_compiled_driver_believes_nothing_that_changed(
    drive: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    call = ("cc", "--recipe", "small", "-c", "x.c")
    assert drive(*call)[0] == "the compiler"
    kept = find_kept_file("small", is_cxx=False)
    whole = kept.read_bytes()
    for damaged in (b"", whole[:40], whole[:-1], whole[:-2] + b"x\0"):
        kept.write_bytes(damaged)
        assert drive(*call)[0] == "the library", damaged
    kept.write_bytes(whole)
    assert drive(*call)[0] == "the compiler"
    for name, value in (("COMPILER_GYM_CC_OUTPUT", "kept"), ("COMPILER_GYM_CLANG", "clang-22")):
        with monkeypatch.context() as now:
            now.setenv(name, value)
            assert drive(*call)[0] == "the library"
    with (tmp_path / "compiler").open("a") as file:
        file.write("# a later version\n")
    assert drive(*call)[0] == "the library"


@pytest.mark.parametrize(
    "choice",
    [("--recipe", "small"), pytest.param(("--policy", "size"), marks=pytest.mark.slow)],
)
def test_what_needs_passes_of_the_compilers_own_is_compiled_without_the_plan(
    tmp_path: Path, choice: tuple[str, str]
) -> None:
    (tmp_path / "over.c").write_text(
        "int main(int n, char **words) { int a[4] = {n}; return a[n + 3] * 0; }\n"
    )
    (tmp_path / "part.c").write_text(PART)
    driver = [sys.executable, "-m", "compiler_gym.cli", "cc", *choice]

    def made(*words: str) -> str:
        done = subprocess.run(
            [*driver, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    made("-c", "part.c", "-o", "part.o")  # IR too, and is linked with what has none
    coverage = (["--coverage"], ["-coverage"], ["-fprofile-arcs", "-ftest-coverage"])
    for flags in (["-fsanitize=address"], ["-fprofile-instr-generate"], *coverage):
        for file in tmp_path.glob("*.gcda"):
            file.unlink()
        made("-g", *flags, "over.c", "part.o", "-o", "over")
        ran = subprocess.run([tmp_path / "over"], cwd=tmp_path, capture_output=True, text=True)
        if flags == ["-fsanitize=address"]:
            assert "stack-buffer-overflow" in ran.stderr
        assert bool(list(tmp_path.glob("*.gcda"))) == (flags in coverage), flags
    assert (tmp_path / "default.profraw").stat().st_size


APART = [
    *(flag.removesuffix("$") for flag in SET_APART),
    "-fsanitize=undefined", "-fsanitize-coverage=trace-pc-guard", "-fprofile-generate=dir",
    "-fprofile-use", "-fprofile-sample-use=x", "-fcs-profile-generate", "-fcoverage-mapping",
    "-finstrument-functions", "-fxray-instrument", "-Xclang=-fprofile-instrument=clang",
]  # fmt: skip


@pytest.mark.parametrize("flag", APART)
def test_each_flag_that_is_set_apart_is_so_for_library_and_driver(
    drive: Callable[..., list[str]], flag: str
) -> None:
    assert drive("cc", "--recipe", "small", flag, "-c", "x.c")[0] == "the library"
    words = words_with_recipe("cc", "small", [flag, "-c", "x.c"])
    assert words[1:] == [flag, "-c", "x.c"]


@pytest.mark.parametrize("flag", ["-pipe", "-pthread", "-pedantic", "-fno-sanitize=all", "-m64"])
def test_flags_that_begin_like_those_are_not_set_apart(
    drive: Callable[..., list[str]], flag: str
) -> None:
    assert drive("cc", "--recipe", "small", flag, "-c", "x.c")[0] == "the compiler"
    assert "-Oz" in words_with_recipe("cc", "small", [flag, "-c", "x.c"])
