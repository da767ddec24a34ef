# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.envs.llvm import make_benchmark_from_source
from compiler_gym.envs.llvm.panes.pasted import make_pasted
from compiler_gym.errors import BenchmarkInitError, CompilerGymError
from compiler_gym.sandbox import Sandbox, choose_tier

SOURCE = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"


def test_line_tables_change_nothing_else() -> None:
    costs: list[list[int]] = []
    with compiler_gym.make("llvm-v0") as env:
        for program in (
            make_pasted(SOURCE, "C", "x"),
            make_benchmark_from_source(SOURCE, lang="c"),
        ):
            env.reset(benchmark=program)
            found: list[int] = []
            for name in ("mem2reg", "loop-rotate", "indvars", "simplifycfg", "instcombine"):
                env.step(env.action_space[name])
                found.append(env.observation["IrInstructionCount"])
                found.append(env.observation["ObjectTextSizeBytes"])
            costs.append(found)
    assert costs[0] == costs[1]


def test_the_same_text_is_the_same_program() -> None:
    one, other = make_pasted(SOURCE, "C", "a.c"), make_pasted(SOURCE, "C", "b.c")
    assert one.uri == other.uri
    assert one.contents == other.contents
    (source,) = one.sources
    assert (source.filename, source.contents.decode()) == ("a.c", SOURCE)


@pytest.mark.skipif(choose_tier() is Sandbox.NONE, reason="this machine offers no sandbox")
def test_a_pasted_program_reads_no_file_of_the_users(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("int stolen(void) { return 4; }\n")
    with pytest.raises(BenchmarkInitError, match="secret"):
        make_pasted(f'#include "{secret}"\n', "C", "x")
    incbin = f'__asm__(".incbin \\"{secret}\\"");\nint f(void) {{ return 0; }}\n'
    with pytest.raises(BenchmarkInitError, match="Could not find"):
        make_pasted(incbin, "C", "x")
    triple = 'target triple = "x86_64-pc-linux-gnu"\n'
    module = f'{triple}module asm ".incbin \\22{secret}\\22"\ndefine i32 @f() {{\n  ret i32 0\n}}\n'
    with compiler_gym.make("llvm-v0") as env:
        env.reset(benchmark=make_pasted(module, "IR", "x"))
        with pytest.raises(CompilerGymError, match="only permitted for the user's own programs"):
            _ = env.observation["Assembly"]


@pytest.mark.parametrize(("text", "language"), [("", "C"), ("x", "Ada"), ("int f(", "C")])
def test_an_invalid_program_is_refused(text: str, language: str) -> None:
    with pytest.raises(BenchmarkInitError, match=r"empty|no language|error: expected"):
        make_pasted(text, language, "x")
