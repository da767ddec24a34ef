# SPDX-License-Identifier: MIT
"""The hash says "equal" exactly when the bitcode is equal."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym import _llvm

from .actions import SAFE_PIPELINES

# It registers a kind of metadata on its first run: bitcode lists the kinds that the
# context knows, which is no part of the IR.
GROWS_CONTEXT = {"function(irce)"}
PIPELINES = [pipeline for pipeline in SAFE_PIPELINES if pipeline not in GROWS_CONTEXT]


def walk(corpus: dict[str, bytes], seed: int, steps: int) -> int:
    """Compare hashes and bitcode along random episodes; return how many states were seen."""
    rng = random.Random(seed)
    hash_of: dict[bytes, bytes] = {}
    bytes_of: dict[bytes, bytes] = {}
    module, taken = _llvm.Module(corpus["loops"]), 0
    for step in range(steps):
        if taken == 0 or module.instruction_count() > 5000:
            name = rng.choice(sorted(corpus))
            module, taken = _llvm.Module(corpus[name]), rng.randint(5, 40)
        before = module.bitcode()
        pipeline = rng.choice(PIPELINES)
        changed = module.run(pipeline)
        after, digest = module.bitcode(), module.ir_hash()
        taken -= 1
        assert changed == (before != after), (step, pipeline)
        assert hash_of.setdefault(after, digest) == digest, (step, pipeline)
        assert bytes_of.setdefault(digest, after) == after, (step, pipeline)
    return len(hash_of)


def test_hashes_are_equal_exactly_when_bitcode_is(corpus: dict[str, bytes]):
    assert walk(corpus, seed=1, steps=1200) > 300


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_hashes_are_equal_exactly_when_bitcode_is_over_many_steps(corpus: dict[str, bytes]):
    assert walk(corpus, seed=2, steps=30_000) > 5_000


def test_registering_a_kind_of_metadata_is_not_a_change(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["bits"])
    module.run("function(sroa)")
    text = module.text()
    changed = module.run("function(irce)")
    assert changed == (module.text() != text)


PROGRAM = """
import sys
from compiler_gym import _llvm
module = _llvm.Module(sys.stdin.buffer.read())
for pipeline in sys.argv[1:]:
    module.run(pipeline)
    print(module.ir_hash().hex())
"""


def test_hashes_are_equal_in_every_process(corpus: dict[str, bytes]):
    pipelines = random.Random(4).choices(SAFE_PIPELINES, k=20)
    command = [sys.executable, "-c", PROGRAM, *pipelines]
    for data in corpus.values():
        runs = [subprocess.run(command, input=data, capture_output=True, check=True).stdout
                for _ in range(2)]  # fmt: skip
        module = _llvm.Module(data)
        here: list[str] = []
        for pipeline in pipelines:
            module.run(pipeline)
            here.append(module.ir_hash().hex())
        assert runs[0] == runs[1] == ("\n".join(here) + "\n").encode()


VARIANTS = [
    ("add i32 %a, 1", "add nsw i32 %a, 1"),
    ("add i32 %a, 1", "add i32 %a, 2"),
    ("add i32 %a, 1", "sub i32 %a, 1"),
    ("load i32, ptr @g, align 4", "load i32, ptr @g, align 8"),
    ("load i32, ptr @g, align 4", "load volatile i32, ptr @g, align 4"),
    ("load i32, ptr @g, align 4", "load atomic i32, ptr @g monotonic, align 4"),
    ("load i32, ptr @g, align 4", "load i32, ptr @g, align 4, !nontemporal !{i32 1}"),
    ("icmp slt i32", "icmp sgt i32"),
    ("tail call i32 @h", "call i32 @h"),
    ("call i32 @h", "call fastcc i32 @h"),
    ("i32 @h(i32 %x)", "i32 @h(i32 zeroext %x)"),
    ("@h(i32 %x)", '@h(i32 %x) [ "tag"(i32 0) ]'),
    ("i32 0, i32 1\n", "i32 1, i32 1\n"),
    ("getelementptr inbounds", "getelementptr"),
    ("@g = global i32 7", "@g = global i32 8"),
    ("@g = global i32 7", "@g = internal global i32 7"),
    ("@g = global i32 7", "@g = constant i32 7"),
    ("@g = global i32 7", '@g = global i32 7, section "s"'),
    ("@g = global i32 7", "@g = global i32 7, align 16"),
    ("@g = global i32 7", "@g = thread_local global i32 7"),
    ("@g = global i32 7", "$g = comdat any\n@g = global i32 7, comdat"),
    ("@alias = alias i32, ptr @g", "@alias = weak alias i32, ptr @g"),
    ("define i32 @f(i32 %a)", "define dso_local i32 @f(i32 %a)"),
    ("define i32 @f(i32 %a)", "define i32 @f(i32 noundef %a)"),
    ("define i32 @f(i32 %a)", "define i32 @f(i32 %a) nounwind"),
    ("define i32 @f(i32 %a)", 'define i32 @f(i32 %a) "key"="value"'),
    ("define i32 @f(i32 %a)", 'define i32 @f(i32 %a) gc "statepoint-example"'),
    ("define i32 @f(i32 %a)", "define i32 @f(i32 %a) prefix i32 1"),
    ("switch i32 %x, label %done [ i32 1, label %other ]",
     "switch i32 %x, label %done [ i32 2, label %other ]"),
    ("!0 = !{i32 1}", "!0 = !{i32 2}"),
    ("!0 = !{i32 1}", "!0 = distinct !{i32 1}"),
    ('source_filename = "a"', 'source_filename = "b"'),
    ('module asm "nop"', 'module asm "hlt"'),
    ("%struct.s = type { i32, i32 }", "%struct.s = type { i32, i64 }"),
    ("%struct.s = type { i32, i32 }", "%struct.s = type <{ i32, i32 }>"),
    ("shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 0>",
     "shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 0, i32 1>"),
    ("extractvalue { i32, i32 } %pair, 0", "extractvalue { i32, i32 } %pair, 1"),
    ("fadd float", "fadd fast float"),
]  # fmt: skip

BASE = """
source_filename = "a"
target triple = "x86_64-pc-linux-gnu"
module asm "nop"
%struct.s = type { i32, i32 }
@g = global i32 7
@s = global %struct.s zeroinitializer
@alias = alias i32, ptr @g
declare i32 @h(i32)
define i32 @f(i32 %a) {
  %sum = add i32 %a, 1
  %loaded = load i32, ptr @g, align 4
  %x = add i32 %sum, %loaded
  %small = icmp slt i32 %x, 3
  %at = getelementptr inbounds %struct.s, ptr @s, i32 0, i32 1
  store i32 %x, ptr %at
  %v = insertelement <2 x i32> poison, i32 %x, i32 0
  %w = shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 0>
  %pair = insertvalue { i32, i32 } undef, i32 %x, 0
  %part = extractvalue { i32, i32 } %pair, 0
  %real = sitofp i32 %x to float
  %more = fadd float %real, 1.0
  switch i32 %x, label %done [ i32 1, label %other ]
other:
  %called = tail call i32 @h(i32 %x)
  br label %done
done:
  %result = phi i32 [ %x, %0 ], [ %called, %other ]
  ret i32 %result
}
!named = !{!0}
!0 = !{i32 1}
"""


@pytest.mark.parametrize(("old", "new"), VARIANTS)
def test_any_difference_shows(old: str, new: str):
    assert old in BASE
    changed = _llvm.Module(BASE.replace(old, new).encode())
    base = _llvm.Module(BASE.encode())
    assert base.bitcode() != changed.bitcode()
    assert base.ir_hash() != changed.ir_hash()


def test_the_order_of_uses_shows():
    text = """
define i32 @f(i32 %a) {
  %b = add i32 %a, 1
  %c = mul i32 %a, 2
  %d = xor i32 %a, %b
  %e = or i32 %c, %d
  ret i32 %e
}
"""
    ordered = text.replace("ret i32 %e\n", "ret i32 %e\n  uselistorder i32 %a, { 2, 0, 1 }\n")
    assert ordered != text
    plain, shuffled = (_llvm.Module(one.encode()) for one in (text, ordered))
    assert plain.text() == shuffled.text()
    assert plain.bitcode() != shuffled.bitcode()
    assert plain.ir_hash() != shuffled.ir_hash()


def test_programs_with_debug_information_are_distinguished(sources: dict[str, Path]):
    from .conftest import UNOPTIMISED, compile_program

    data = compile_program(sources["loops"], *UNOPTIMISED, "-g")
    module = _llvm.Module(data)
    assert module.ir_hash() == _llvm.Module(data).ir_hash()
    before = module.bitcode()
    assert module.run("function(sroa)") == (before != module.bitcode())
    assert not module.run("no-op-module")
    assert module.run("strip-nondebug") or module.run("strip")
