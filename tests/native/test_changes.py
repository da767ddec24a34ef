# SPDX-License-Identifier: MIT
"""Whether a run changed the IR is answered without reading all of it, and is true all the same."""

import random

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import ModuleTooLargeError

from .actions import SAFE_PIPELINES

VARYING = {"function(gvn-hoist)", "function(gvn-sink)", "function(newgvn)"}
"""They make other programs at other addresses."""


def wrong_answers(
    corpus: dict[str, bytes], seed: int, steps: int, most: int = 5000
) -> list[object]:
    """Compare answers with hashes of all of the IR along random episodes."""
    rng = random.Random(seed)
    module, taken, found = _llvm.Module(corpus["loops"]), 0, list[object]()
    for step in range(steps):
        if taken == 0 or module.instruction_count() > most:
            name = rng.choice(sorted(corpus))
            module, taken = _llvm.Module(corpus[name]), rng.randint(5, 60)
        pipeline = rng.choice(SAFE_PIPELINES)
        changed, differs, holds, _ = module.run_watched(pipeline)
        taken -= 1
        if changed != differs or not holds:
            found.append((seed, step, pipeline, changed, differs, holds))
    return found


def test_the_answer_is_what_hashes_of_all_of_the_ir_say(corpus: dict[str, bytes]):
    assert wrong_answers(corpus, seed=1, steps=600, most=1500) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_answer_is_what_hashes_say_over_many_steps(corpus: dict[str, bytes]):
    assert wrong_answers(corpus, seed=2, steps=10_000) == []


@pytest.mark.parametrize("name", ["loops", "bits"])
def test_every_pass_is_answered_for_before_and_after_others(corpus: dict[str, bytes], name: str):
    module = _llvm.Module(corpus[name])
    for pipeline in ["function(sroa)", *SAFE_PIPELINES, *reversed(SAFE_PIPELINES)]:
        changed, differs, holds, _ = module.run_watched(pipeline)
        assert (changed, holds) == (differs, True), pipeline


@pytest.mark.parametrize(
    "pipeline",
    [
        "default<O2>",
        "function(sroa,early-cse),cgscc(inline),globaldce",
        "function(reg2mem,mem2reg)",
    ],
)
def test_pipelines_of_several_passes_are_compared_at_their_ends(
    corpus: dict[str, bytes], pipeline: str
):
    module = _llvm.Module(corpus["loops"])
    for _ in range(4):
        changed, differs, holds, _ = module.run_watched(pipeline)
        assert (changed, holds) == (differs, True)


def test_a_program_with_records_of_debugging_is_compared_as_a_whole(corpus: dict[str, bytes]):
    text = _llvm.Module(corpus["loops"]).text()
    named = (
        "\n!llvm.dbg.cu = !{!90000}\n!90000 = distinct !DICompileUnit(language: DW_LANG_C, "
        'file: !90001)\n!90001 = !DIFile(filename: "a.c", directory: "/")\n'
    )
    flags = "!llvm.module.flags = !{"
    text = (
        text.replace(flags, flags + "!90002, ")
        + '!90002 = !{i32 2, !"Debug Info Version", i32 3}\n'
    )
    module = _llvm.Module((text + named).encode())
    assert module.run("function(sroa)")
    assert not module.run("function(sroa)")
    for pipeline in SAFE_PIPELINES:
        changed, differs, _, _ = module.run_watched(pipeline)
        assert changed == differs, pipeline


def test_hashes_are_kept_and_made_again(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    before = module.ir_hash()
    assert module.run("function(sroa)")
    after = module.ir_hash()
    assert after != before
    assert not module.run("function(sroa)")
    assert module.ir_hash() == after
    assert module.apply("function(instcombine<no-verify-fixpoint>)")
    assert module.ir_hash() != after


def test_applying_makes_the_same_program(corpus: dict[str, bytes]):
    steady = [pipeline for pipeline in SAFE_PIPELINES if pipeline not in VARYING]
    pipelines = random.Random(3).choices(steady, k=60)
    asked, unasked = _llvm.Module(corpus["loops"]), _llvm.Module(corpus["loops"])
    for number, pipeline in enumerate(pipelines):
        changed = asked.run(pipeline)
        assert unasked.apply(pipeline) >= changed
        assert asked.instruction_count() == unasked.instruction_count()
        if number % 20 == 0:  # what was not asked does not spoil what is
            assert asked.run("function(gvn)") == unasked.run("function(gvn)")
    assert asked.bitcode() == unasked.bitcode()
    assert asked.ir_hash() == unasked.ir_hash()


def test_applying_keeps_the_limit(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    module.run("function(sroa)")
    module.limit_instructions(module.instruction_count())
    with pytest.raises(ModuleTooLargeError):
        module.apply("function(reg2mem)")


def test_above_the_limit_only_a_change_is_refused(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    module.run("function(sroa)")
    module.limit_instructions(1)
    assert not module.apply("function(sroa)")
    with pytest.raises(ModuleTooLargeError):
        module.apply("function(reg2mem)")
