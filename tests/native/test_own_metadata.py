# SPDX-License-Identifier: MIT
"""What the engine writes into a module may come from a stranger's file: it is never a crash.

Ids, marks, options of the code generator and notes of parts are metadata and attributes like any
others. Modules with any of it, well or badly made, go through everything that reads it, in a
process that may die: none does, and what cannot be done is a typed error.
"""

import os
import random
import signal
import traceback
from collections.abc import Callable

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import CompilerGymError

PROGRAM = """target triple = "x86_64-pc-linux-gnu"
@cell = internal global i32 2
declare void @elsewhere(i32)
declare i32 @llvm.abs.i32(i32, i1)
define internal i32 @twice(i32 %x) #0 {{
  %y = shl i32 %x, 1
  %z = call i32 @llvm.abs.i32(i32 %y, i1 true), !compiler_gym.call !{call2}
  ret i32 %z
}}
define i32 @main(ptr %f) #1 {{
entry:
  %a = call i32 @twice(i32 3), !compiler_gym.call !{call0}
  %b = call i32 @twice(i32 4), !compiler_gym.call !{call1}
  call void %f(), !compiler_gym.call !{call2}
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j2, %inner ]
  call void @elsewhere(i32 %j)
  %j2 = add i32 %j, 1
  %more = icmp slt i32 %j2, 8
  br i1 %more, label %inner, label %latch, !llvm.loop !{loop0}
latch:
  %i2 = add i32 %i, 1
  %again = icmp slt i32 %i2, 5
  br i1 %again, label %outer, label %end, !llvm.loop !{loop1}
end:
  %s = add i32 %a, %b
  ret i32 %s
}}
attributes #0 = {{ nounwind {attributes0} }}
attributes #1 = {{ nounwind {attributes1} }}
{named}
"""
NUMBERS = ("0", "1", "5", "-1", "65536", "2147483646", "2147483647")
TEXTS = (
    "compiler_gym.loop", "compiler_gym.call", "llvm.loop.unroll.count", "llvm.loop.unroll.full",
    "llvm.loop.mustprogress", "", "inline", "never", "regalloc=basic", "regalloc=slow",
    "no-such=1", "regalloc", "=", "main", "twice", "cell", "llvm.abs.i32", "id", "a:b",
)  # fmt: skip


class Written:
    """The text of a module, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"own metadata {seed}")
        self.nodes: list[str] = []

    def module(self) -> str:
        """Return the module; each place holds something of its kind, or of any."""
        places = {name: self.call() for name in ("call0", "call1", "call2")}
        places |= {name: self.loop() for name in ("loop0", "loop1")}
        named = [
            f"!compiler_gym.{kind} = !{{{', '.join(f'!{node()}' for _ in range(self.few()))}}}"
            for kind, node in {"codegen": self.options, "parts": self.part}.items()
            if self.random.random() < 0.6
        ]
        head = PROGRAM.format(
            **places,
            attributes0=self.attributes(),
            attributes1=self.attributes(),
            named="\n".join(named),
        )
        return head + "\n".join(f"!{at} = {node}" for at, node in enumerate(self.nodes)) + "\n"

    def few(self) -> int:
        return self.random.choice((0, 1, 1, 2, 3))

    def node(self, *operands: str) -> int:
        """Return the number of a new node of these operands, or of others now and then."""
        at, found = len(self.nodes), list(operands)
        self.nodes.append("")
        kind = self.random.random()
        if kind < 0.25 and found:
            found[self.random.randrange(len(found))] = self.anything(at)
        elif kind < 0.35 and found:
            found.pop()
        elif kind < 0.45:
            found.append(self.anything(at))
        distinct = "distinct " if f"!{at}" in found or self.random.random() < 0.3 else ""
        self.nodes[at] = f"{distinct}!{{{', '.join(found)}}}"
        return at

    def anything(self, at: int) -> str:
        """Return any operand of node `at`."""
        return self.random.choice(
            (
                "null",
                self.text(),
                self.number(),
                f"i64 {self.random.choice(NUMBERS)}",
                "i1 true",
                "ptr @cell",
                "double 1.0",
                f"!{at}",
                f"!{self.random.randrange(at + 1)}",
                "!{}",
                "!{null}",
            )
        )

    def text(self) -> str:
        return f'!"{self.random.choice(TEXTS)}"'

    def number(self) -> str:
        return f"i32 {self.random.choice(NUMBERS)}"

    def call(self) -> int:
        note = (f'!"{self.random.choice(("", "inline", "never"))}"',) * (self.random.random() < 0.5)
        return self.node(self.number(), *note)

    def loop(self) -> int:
        lists = [f"!{self.node(f'!{self.property()}')}" for _ in range(self.random.choice((0, 2)))]
        id = self.node('!"compiler_gym.loop"', self.number(), *lists)
        at = len(self.nodes)
        return self.node(f"!{at}", f"!{self.property()}", f"!{id}")

    def property(self) -> int:
        return self.node('!"llvm.loop.unroll.count"', "i32 2")

    def options(self) -> int:
        return self.node(*(self.text() for _ in range(self.few())))

    def part(self) -> int:
        note = self.node(self.text(), "i64 7", '!"group"', "i64 1", f"i64 {self.few()}")
        return self.node('!"id"', "i64 0", "i64 1", f"!{self.node(f'!{note}')}")

    def attributes(self) -> str:
        texts = (*NUMBERS, "", "x", "optsize:1", "minsize optsize:99", "cold:-3", ":4", "a:b:2")
        return " ".join(
            f'"compiler-gym-function{behind}"="{self.random.choice(texts)}"'
            for behind in ("", "-was")
            if self.random.random() < 0.7
        )


def marked(module: _llvm.Module) -> None:
    """Read every mark, and make every choice there is."""
    for table in (_llvm.call_sites, _llvm.marked_loops, _llvm.marked_functions):
        table(module)
    marks = _llvm.Marks(module)
    marks.number()
    before = module.ir_hash()
    marks.number()
    assert module.ir_hash() == before, "an id was given twice"
    for kind in range(3):
        assert 0 <= marks.ids(kind) <= 1 << 20
    for kind, id, _, _ in marks.points():
        for choice in (1, 0, 5, 4, 2, 20, 0):
            before = module.ir_hash()
            try:
                changed = marks.choose(kind, id, choice)
            except CompilerGymError:
                changed = False
            assert changed == (module.ir_hash() != before)
    module.verify()


def linked(module: _llvm.Module) -> None:
    """Split the module and link it again, with itself too."""
    data = module.bitcode()
    whole = _llvm.link_modules([data])
    _llvm.Module(_llvm.link_modules([bits for _, bits in _llvm.split_functions(whole)]))


READERS: tuple[Callable[[_llvm.Module], object], ...] = (
    marked,
    linked,
    lambda module: module.chosen_options(),
    lambda module: module.run("function(mem2reg),codegen<regalloc=basic>"),
    lambda module: module.run("codegen<reset>"),
    lambda module: module.run_with("function(instcombine<no-verify-fixpoint>)", []),
    lambda module: module.object_code(),
    lambda module: module.internalize(["twice"]),
    lambda module: module.retarget("aarch64"),
    lambda module: module.apply_level("O2"),
    lambda module: module.apply_linked_level("Oz", []),
    lambda module: _llvm.Inlining(module, "O1").answer("inline"),
    lambda module: module.set_goal("size"),
    lambda module: _llvm.run_recorded(module, "default<O1>"),
    lambda module: _llvm.function_table(module),
    lambda module: _llvm.function_shapes(module),
)


def read_all(seed: int) -> None:
    """Send a module through every reader, as text and as bitcode."""
    text = Written(seed).module().encode()
    try:
        data = _llvm.Module(text).bitcode()
    except CompilerGymError:
        return
    for read in READERS:
        for contents in (text, data):
            module = _llvm.Module(contents)
            try:
                read(module)
            except CompilerGymError:
                pass
            fresh = _llvm.Module(module.bitcode())
            assert fresh.instruction_count() == module.instruction_count()


def deaths(seeds: range) -> list[tuple[int, int]]:
    """Return the seeds of which a process died or failed, with how."""
    found: list[tuple[int, int]] = []
    for seed in seeds:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            code = 1
            try:
                read_all(seed)
                code = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        if status:
            found.append((seed, status))
    return found


def test_our_own_metadata_never_crashes():
    assert deaths(range(30)) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_large_amounts_of_our_own_metadata_never_crash():
    assert deaths(range(30, 3000)) == []


def test_the_note_of_a_marked_call_may_be_anything():
    text = (
        "define internal i32 @f() {\n  ret i32 1\n}\n"
        "define i32 @main() {\n  %a = call i32 @f(), !compiler_gym.call !0\n  ret i32 %a\n}\n"
        "!0 = !{i32 0, i32 5}\n"
    )
    module = _llvm.Module(text.encode())
    assert _llvm.Marks(module).choose(0, 0, 2)
    assert "noinline" in module.text()


def test_a_refused_pipeline_that_was_watched_leaves_nothing_behind(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    with pytest.raises(CompilerGymError, match="nonsense"):
        module.run_watched("nonsense")
    assert module.run("function(sroa)")


def test_an_unknown_option_of_the_code_generator_leaves_nothing_stale(corpus: dict[str, bytes]):
    text = _llvm.Module(corpus["loops"]).text()
    text += '\n!compiler_gym.codegen = !{!90000}\n!90000 = !{!"no-such=1"}\n'
    module = _llvm.Module(text.encode())
    assert module.ir_hash()
    assert module.instruction_count()
    with pytest.raises(CompilerGymError, match="no-such"):
        module.run("function(sroa),codegen<regalloc=basic>")
    fresh = _llvm.Module(module.bitcode())
    assert (module.ir_hash(), module.instruction_count()) == (
        fresh.ir_hash(),
        fresh.instruction_count(),
    )
    with pytest.raises(CompilerGymError, match="no-such"):
        module.run("codegen<regalloc=basic>")
    assert module.run("function(gvn)") in (True, False)
