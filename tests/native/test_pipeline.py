# SPDX-License-Identifier: MIT
"""Checking pipeline texts without a module."""

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import PipelineError


@pytest.mark.parametrize(
    "pipeline",
    [
        "default<Oz>",
        "function(sroa,instcombine)",
        "cgscc(inline),function(loop-mssa(licm))",
        "simplifycfg<sink-common-insts>",
        "module(function(loop(loop-deletion)))",
    ],
)
def test_a_pipeline_that_runs_is_accepted(pipeline: str):
    _llvm.check_pipeline(pipeline)


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("", "unknown pass name"),
        ("no-such-pass", "unknown .*pass name 'no-such-pass'"),
        ("function(sroa", "invalid pipeline"),
        ("function(globaldce)", "unknown function pass 'globaldce'"),
        ("simplifycfg<bogus>", "invalid .*parameter"),
        ("default<O9>", "invalid optimization level"),
        ("function(loop(licm))", "LICM requires MemorySSA"),
        ("function(loop(lnicm))", "LNICM requires MemorySSA|MemorySSA"),
        ("sample-profile", r"\S"),
    ],
)
def test_a_pipeline_that_is_refused_or_always_fatal_is_an_error(pipeline: str, message: str):
    with pytest.raises(PipelineError, match=message):
        _llvm.check_pipeline(pipeline)


def test_the_registry_knows_kinds_names_and_parameters():
    passes = _llvm.registered_passes()
    assert {kind for kind, _, _ in passes} == {"module", "cgscc", "function", "loopnest", "loop"}
    assert len(set(passes)) == len(passes) > 300
    assert ("function", "early-cse", "memssa") in passes
    assert ("module", "print<structural-hash>", "detailed;call-target-ignored") in passes
    assert ("module", "globalopt", "") in passes


def test_the_version_is_llvm_22():
    assert _llvm.LLVM_VERSION.startswith("22.1.")
