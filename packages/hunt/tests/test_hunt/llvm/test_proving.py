# SPDX-License-Identifier: MIT
"""A proof by execution finds a wrong program, and refuses what it cannot judge."""

from typing import Any

import pytest

from compiler_gym_hunt.llvm.engine import Answer, Engine
from compiler_gym_hunt.llvm.proving import glue_for, prove_finding

from .conftest import ADDS, HEAD

LEVEL = "default<Oz>,function(gvn)"


class Wrong:
    """An engine whose decision makes another program."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ask(self, operation: str, text: str, *arguments: Any) -> Answer:
        right = self._engine.ask(operation, text, *arguments)
        other = self._engine.ask(operation, text.replace("mul i32", "xor i32"), *arguments)
        return Answer(right.value | {"decided": other.value["decided"]})


def test_a_sound_decision_is_proven_by_execution(engine: Engine) -> None:
    proof = prove_finding(engine, ADDS, LEVEL, "size")
    assert (proof.kind, proof.reason) == ("execution", "")
    assert proof.judged >= 50
    assert proof.reached.startswith(proof.reached[-1])


def test_a_wrong_program_is_found(engine: Engine) -> None:
    proof = prove_finding(Wrong(engine), ADDS, LEVEL, "size")  # pyright: ignore[reportArgumentType]
    assert proof.kind == ""
    assert proof.reason.startswith("differs on input")


def test_an_endless_function_is_not_proven(engine: Engine) -> None:
    body = "  store i8 1, ptr inttoptr (i64 8 to ptr)\n  ret void\n"
    text = f"{HEAD}define void @f(ptr %0) {{\n{body}}}\n"
    assert "terminates on only 0" in prove_finding(engine, text, LEVEL, "size").reason


def test_memory_that_was_never_written_is_not_judged(engine: Engine) -> None:
    text = f"""{HEAD}define i32 @f(i32 %0) {{
  %2 = alloca i32
  %3 = load i32, ptr %2
  %4 = icmp sgt i32 %3, %0
  br i1 %4, label %5, label %6
5:
  ret i32 1
6:
  ret i32 1
}}
"""
    assert "memory sanitizer" in prove_finding(engine, text, LEVEL, "size").reason


def test_calls_and_outside_memory_are_compared(engine: Engine) -> None:
    text = f"""{HEAD}@g = external global i32
declare i32 @outside(ptr, i32)
define i32 @f(ptr %0, i8 %1) minsize optsize {{
  %3 = load i32, ptr @g
  %4 = call i32 @outside(ptr %0, i32 %3)
  store i32 %4, ptr @g
  ret i32 %4
}}
"""
    assert prove_finding(engine, text, LEVEL, "size").kind == "execution"


def test_a_walk_to_the_end_of_a_list_is_proven(engine: Engine) -> None:
    text = f"""{HEAD}define void @f(ptr %0, ptr %1) minsize optsize {{
  br label %3
3:
  %4 = phi ptr [ %1, %2 ], [ %6, %3 ]
  %5 = getelementptr i8, ptr %4, i64 8
  %6 = load ptr, ptr %5
  %7 = icmp eq ptr %6, null
  br i1 %7, label %8, label %3
8:
  store ptr %0, ptr %5
  ret void
}}
"""
    proof = prove_finding(engine, text, LEVEL, "size")
    assert (proof.kind, proof.reason) == ("execution", "")


def test_attributes_with_parentheses_hide_no_argument() -> None:
    glue = glue_for(
        "declare i32 @g(i32 range(i32 0, 5), ptr captures(none))\n"
        "define void @f(ptr initializes((0, 8)) captures(none) %0, i64 noundef %1) #0 {\n"
        "  ret void\n}\n"
    )
    assert "declare void @f0(ptr, i64)" in glue
    assert "define i32 @g(i32 %a0, ptr %a1) {" in glue


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("define <4 x i32> @f(i32 %0) {", "it returns"),
        ("define i32 @f([2 x i64] %0) {", "it takes"),
        ("define i32 @f(ptr byval(i64) %0) {", "it takes"),
        ("@state = global i32 0\ndefine i32 @f(i32 %0) {", "the global variable state"),
    ],
)
def test_a_function_that_cannot_be_called_is_refused(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        glue_for(f"{line}\n  ret void\n}}\n")
