# SPDX-License-Identifier: MIT
"""Programs are linked, and how large they are is what LLVM's tools say."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm import make_benchmark_from_source
from compiler_gym.envs.llvm.toolchain import build
from compiler_gym.envs.llvm.toolchain.build import (
    FOLDED,
    Builder,
    folding_linker_identity,
    linker_identity,
)
from compiler_gym.errors import BenchmarkInitError, ObservationError
from tests.envs.llvm.running_programs import MakeEnv, program, started

Tool = Callable[..., bytes]


def test_the_text_size_is_what_llvm_size_says_of_the_linked_program(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = started(make_env, "cbench-v1/crc32")
    for action in ("sroa", "instcombine"):
        path = env.write_bitcode(tmp_path / "module.bc")
        tool("llc-22", "-filetype=obj", path, "-o", tmp_path / "module.o")
        tool("clang-22", "-no-pie", tmp_path / "module.o", "-o", tmp_path / "program")
        flags = tool("llvm-readelf-22", "-SW", tmp_path / "program").decode()
        sections = re.findall(
            r"\] (\S+) +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +\w*X\w* ", flags
        )
        assert sections
        assert env.observation["TextSizeBytes"] == sum(int(size, 16) for _, size in sections)
        env.step(env.action_space[action])


def test_a_program_without_main_is_not_a_program(make_env: MakeEnv) -> None:
    env = started(make_env, program("int f(int x) { return x; }"))
    assert env.observation["IsBuildable"] is False
    assert env.observation["IsRunnable"] is False
    for name in ("Buildtime", "Runtime"):
        assert env.observation[name].tolist() == []
    for name in ("TextSizeBytes", "LinkedTextSizeBytes", "LinkedSizeBytes", "RuntimeInstructions"):
        with pytest.raises(ObservationError, match="does not link"):
            _ = env.observation[name]


def test_the_worker_loads_no_linker_before_it_is_asked_to() -> None:
    program = (
        "import sys; import compiler_gym.envs.llvm.session; "
        "late = ('toolchain.running', 'toolchain.build', 'toolchain.executable'); "
        "print(any(name.endswith(late) for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("source", "lang"),
    [
        ("#include <string>\n#include <cstdio>\nint main(int n, char **w) "
         "{ std::puts((std::to_string(n) + w[0]).c_str()); }", "c++"),
        ("#include <math.h>\n#include <stdlib.h>\n"
         "int main(int n, char **w) { return (int)pow(atof(w[0]), n); }", "c"),
    ],
)  # fmt: skip
def test_a_program_without_a_run_spec_links_with_the_libraries_of_its_language(
    make_env: MakeEnv, source: str, lang: str
) -> None:
    env = started(make_env, make_benchmark_from_source(source, lang=lang), action_space="Pipelines")
    assert env.observation["IsBuildable"]
    env.reset(reward_space="TextSizeOz")
    assert env.step(env.action_space["-Oz"])[1] == 1


def module(status: int = 3) -> _llvm.Module:
    triple = 'target triple = "x86_64-pc-linux-gnu"'
    return _llvm.Module(f"{triple}\ndefine i32 @main() {{\n  ret i32 {status}\n}}\n".encode())


def test_a_program_is_linked_again_only_when_its_ir_has_changed(tmp_path: Path) -> None:
    builder = Builder(lambda: tmp_path / "made", ())
    first = builder.build(module())
    assert subprocess.run([first.path], check=False).returncode == 3
    assert builder.build(module()) is first
    other = builder.build(module(4))
    assert subprocess.run([other.path], check=False).returncode == 4
    assert not first.path.exists()
    again = builder.build(module())
    assert again.path not in (first.path, other.path)


def test_a_program_is_linked_again_when_it_is_gone_or_forgotten(tmp_path: Path) -> None:
    builder = Builder(lambda: tmp_path, ())
    first = builder.build(module())
    first.path.unlink()
    second = builder.build(module())
    assert second.path.is_file()
    builder.forget()
    assert builder.build(module()) is not second
    third = builder.build_again(module())
    assert third.seconds > 0


def test_the_code_of_a_program_is_what_llvm_readelf_lists(tool: Tool, tmp_path: Path) -> None:
    built = Builder(lambda: tmp_path, ()).build(module())
    listed = tool("llvm-readelf-22", "-SW", built.path).decode()
    sizes = re.findall(r"\] \S+ +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +\w*X\w* ", listed)
    assert built.text_size == sum(int(size, 16) for size in sizes) > 0


@pytest.mark.parametrize("program", ["crc32", pytest.param("gsm", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("query", "flags"),
    [("", ("-ffunction-sections", "-fdata-sections")), ("?scope=program", ("-flto",))],
)
@pytest.mark.parametrize("level", ["Oz", "O2"])
def test_linked_sizes_are_those_of_clang_and_lld(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, program: str, query: str,
    flags: tuple[str, ...], level: str,
) -> None:  # fmt: skip
    env = make_env()
    goal = "size" if level == "Oz" else "speed"
    env.reset(benchmark=f"cbench-v1/{program}?goal={goal}")
    path = env.write_bitcode(tmp_path / "module.bc")
    env.reset(benchmark=f"cbench-v1/{program}{query}")
    linked = tmp_path / "linked"
    tool("clang-22", f"-{level}", *flags, "-c", "-x", "ir", path, "-o", tmp_path / "module.o")
    tool("clang-22", f"-{level}", *flags, "-fuse-ld=lld-22", "-Wl,--gc-sections,--icf=safe", "-s",
         tmp_path / "module.o", "-o", linked)  # fmt: skip
    # At link-time optimisation lld puts functions in another order, which pads them otherwise.
    padding = 2e-3 if query else 0.0
    size, whole = code_size(tool, linked), linked.stat().st_size
    assert env.observation[f"LinkedTextSize{level}"] == pytest.approx(size, rel=padding, abs=0)
    assert env.observation[f"LinkedSize{level}"] == pytest.approx(whole, rel=padding, abs=0)


def code_size(tool: Tool, program: Path) -> int:
    listed = tool("llvm-readelf-22", "-SW", program).decode()
    sizes = re.findall(r"\] \S+ +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +\w*X\w* ", listed)
    return sum(int(size, 16) for size in sizes)


def test_a_folded_program_has_no_duplicate_and_no_unused_function(
    make_env: MakeEnv,
) -> None:
    head = "static __attribute__((noinline)) int {}(int x)"
    body = head + " {{ for (int i = 0; i < 9; i++) x = x * 7 ^ i; return x; }}\n"
    names = ("twice", "again", "unused")
    main = "int main(int n, char **w) { return twice(n) - again(n); }\n"
    sizes: list[int] = []
    for count in (1, 2, 3):
        source = "".join(map(body.format, names[:count])) + main
        source = source if count > 1 else source.replace("again(n)", "twice(n)")
        env = started(make_env, program(source))
        env.step(env.action_space["sroa"])
        before = env.observation["LinkedTextSizeBytes"]
        env.step(env.action_space["globalopt"])  # finds that no address of a function is compared
        sizes.append(env.observation["LinkedTextSizeBytes"])
        assert env.observation["LinkedSizeBytes"] > sizes[-1]
    assert sizes[0] == sizes[1] == sizes[2]
    assert before > sizes[0]


def test_a_folded_program_keeps_functions_apart_whose_addresses_are_compared(
    tmp_path: Path,
) -> None:
    body = "define i32 @{}(i32 %x) {{\n  %y = mul i32 %x, 7\n  ret i32 %y\n}}\n"
    text = 'target triple = "x86_64-pc-linux-gnu"\n@chosen = global ptr @other\n'
    text += "".join(map(body.format, ("one", "other")))
    text += "define i32 @main() {\n  %f = load volatile ptr, ptr @chosen\n"
    text += "  %same = icmp eq ptr %f, @one\n  %status = zext i1 %same to i32\n"
    text += "  ret i32 %status\n}\n"
    built = Builder(lambda: tmp_path, (), linking=FOLDED).build(_llvm.Module(text.encode()))
    assert subprocess.run([built.path], check=False).returncode == 0


def test_the_choices_of_code_generation_count_in_linked_sizes(make_env: MakeEnv) -> None:
    env = make_env(action_space="CodegenOptions", reward_space="LinkedTextSizeOz")
    env.reset(benchmark="cbench-v1/gsm")
    before = env.observation["LinkedTextSizeBytes"]
    best = env.observation["LinkedTextSizeOz"]
    start = env.observation["LinkedTextSizeInitial"]
    reward = env.step(env.action_space["enable-machine-outliner=always"])[1]
    after = env.observation["LinkedTextSizeBytes"]
    assert before == start
    assert after != before
    assert reward == pytest.approx((before - after) / (start - best))


def test_a_folded_program_still_runs(tmp_path: Path) -> None:
    built = Builder(lambda: tmp_path, (), linking=FOLDED).build(module())
    assert subprocess.run([built.path], check=False).returncode == 3
    assert built.text_size < built.size == built.path.stat().st_size


@pytest.mark.parametrize(
    ("present", "missing"), [((), "clang-22 lld-22"), (("clang-22",), "lld-22")]
)
def test_linked_sizes_name_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: tuple[str, ...], missing: str
) -> None:
    for name in present:
        (tmp_path / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("COMPILER_GYM_CLANG", raising=False)
    build._folding_linker.cache_clear()  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process
    folding_linker_identity.cache_clear()
    try:
        with pytest.raises(ObservationError, match=f"linked sizes need .*apt install {missing}`"):
            Builder(lambda: tmp_path, (), linking=FOLDED).build(module())
        with pytest.raises(ObservationError, match="linked sizes need"):
            folding_linker_identity()
    finally:
        build._folding_linker.cache_clear()  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process


def test_the_linkers_message_is_passed_on(tmp_path: Path) -> None:
    with pytest.raises(ObservationError, match=r"does not link:\n.*-lnowhere"):
        Builder(lambda: tmp_path, ("-lnowhere",)).build(module())


def test_another_compiler_links_where_there_is_no_clang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> list[str]:
        raise BenchmarkInitError("no clang")

    monkeypatch.setattr(build, "clang_command", missing)
    build._linker.cache_clear()  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process
    try:
        assert build._linker()[0].endswith(("/cc", "/gcc"))  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process
        build._linker.cache_clear()  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(ObservationError, match="cannot link a program: no clang"):
            build._linker()  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process
    finally:
        build._linker.cache_clear()  # pyright: ignore[reportPrivateUsage]  # the answer is cached for the process


def test_the_identity_of_the_linker_stays_while_it_does() -> None:
    assert linker_identity() == linker_identity() != ""
