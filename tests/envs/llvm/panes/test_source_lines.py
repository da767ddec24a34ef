# SPDX-License-Identifier: MIT
import re

import compiler_gym
from compiler_gym.envs.llvm.panes.pasted import make_pasted
from compiler_gym.envs.llvm.panes.source_lines import read_assembly, read_ir

SOURCE = """\
#include <stdlib.h>
static int third(int x) {
  return x * 3;
}
int f(int y) {
  if (y < 0)
    abort();
  return third(y);
}
"""


def test_lines_survive_passes_and_inlining() -> None:
    program = make_pasted(SOURCE, "C", "f.c")
    with compiler_gym.make("llvm-v0") as env:
        env.reset(benchmark=program)
        env.multistep([env.action_space[name] for name in ("mem2reg", "inline", "simplifycfg")])
        ir = read_ir(env.observation["Ir"])
        assembly = read_assembly(env.observation["Assembly"])
    for shown, word, line in (
        (ir, "mul", 3),
        (ir, "@abort", 7),
        (assembly, "abort", 7),
    ):
        rows = [
            shown.lines[number]
            for number, text in enumerate(shown.text.split("\n"), 1)
            if re.search(rf"\b{word.lstrip('@')}\b", text) and number in shown.lines
        ]
        assert rows == [line]
    assert "!DI" not in ir.text
    assert "dbg" not in ir.text
    assert ".debug" not in assembly.text
    assert ".loc" not in assembly.text


def test_the_shown_text_parses_as_a_module() -> None:
    shown = read_ir(_ir_of(SOURCE)).text
    again = make_pasted(shown, "IR", "f.ll")
    with compiler_gym.make("llvm-v0") as env:
        env.reset(benchmark=again)
        count = env.observation["IrInstructionCount"]
        env.reset(benchmark=make_pasted(SOURCE, "C", "f.c"))
        assert env.observation["IrInstructionCount"] == count


def test_text_without_lines_stays_as_it_is() -> None:
    for text in ("define void @f() {\n  ret void\n}\n", "f:\n\tretq\n"):
        assert read_ir(text).text == read_assembly(text).text == text
        assert not read_ir(text).lines
        assert not read_assembly(text).lines


def _ir_of(source: str) -> str:
    with compiler_gym.make("llvm-v0") as env:
        env.reset(benchmark=make_pasted(source, "C", "f.c"))
        return env.observation["Ir"]
