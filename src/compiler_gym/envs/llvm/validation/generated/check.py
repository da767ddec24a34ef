# SPDX-License-Identifier: MIT
"""Run the program on generated inputs and compare it with the unoptimised one."""

from dataclasses import replace

from compiler_gym.envs.llvm.validation.generated.corpus import Effort, make_corpus
from compiler_gym.envs.llvm.validation.runs import compare_module, make_module
from compiler_gym.envs.llvm.validation.sanitizers import runtime_needed
from compiler_gym.validation import (
    Compared,
    Finding,
    Subject,
    Verdict,
    choose_cases,
    is_mutable,
)

__all__ = ["check_generated", "has_inputs"]


def has_inputs(subject: Subject) -> bool:
    """Return whether the program has an input that can be mutated."""
    spec = subject.benchmark.run
    return spec is not None and spec.generated > 0 and any(map(is_mutable, choose_cases(spec)))


def check_generated(subject: Subject) -> Finding:
    """Return whether the program behaves like the unoptimised one on generated inputs."""
    spec = subject.benchmark.run
    assert spec is not None
    with runtime_needed():
        corpus = make_corpus(subject.benchmark, Effort(tries=spec.generated))
    if not corpus.cases:
        return Finding.unknown(f"none of {corpus.tried} generated inputs can be compared")
    finding = compare_module(
        subject.benchmark, make_module(subject), corpus.cases, compared=Compared.EVERYTHING
    )
    if finding.verdict is Verdict.FAILED and not corpus.knows_source:
        return Finding.unknown(
            "undefined behaviour cannot be ruled out without the source: "
            + "; ".join(map(str, finding.errors))
        )
    if finding.verdict is Verdict.OK:
        return replace(finding, reason=corpus.summary)
    return finding
