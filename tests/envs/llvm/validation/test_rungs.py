# SPDX-License-Identifier: MIT
"""Wrong programs are reported, right ones are not, and what cannot be told is unknown."""

import shutil
from collections.abc import Callable

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnvState
from compiler_gym.envs.llvm.validation import QUICK
from compiler_gym.envs.llvm.validation.generated import Effort, check
from compiler_gym.validation import ValidationResult
from tests.bundled import every_program
from tests.stand_ins import stand_in

from .conftest import reason, verdicts

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_every_rung_is_reported_and_the_bundled_program_passes(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "Effort", stand_in(lambda tries: Effort(tries=tries // 100)))
    result = validated("cbench-v1/bitcount", "sroa", "instcombine", "simplifycfg")
    assert verdicts(result) == {
        **dict.fromkeys(("replay", "verify", "run", "more", "fresh", "generated"), "ok"),
        **dict.fromkeys(("asan", "ubsan", "msan"), "ok"),
        "alive": "ok" if shutil.which("alive-tv") else "unknown",
    }
    assert result.okay()
    assert result.benchmark_semantics_validated
    assert reason(result, "run") == "22 inputs"
    assert result.walltime >= sum(rung.seconds for rung in result.rungs) > 0


@pytest.mark.parametrize("name", every_program())
def test_every_bundled_program_passes_on_at_least_twenty_inputs(
    validated: Callable[..., ValidationResult], name: str
) -> None:
    result = validated(
        f"cbench-v1/{name}",
        "sroa",
        "early-cse",
        "licm",
        "inline",
        "gvn",
        "simplifycfg",
        rungs=QUICK,
    )
    assert result.okay(), result.error_details
    assert verdicts(result) == {"replay": "ok", "verify": "ok", "run": "ok"}
    assert int(reason(result, "run").split()[0]) >= 20


def test_states_are_validated_in_parallel() -> None:
    make = lambda: compiler_gym.make("llvm-ic-v0")  # noqa: E731 - one line
    states = [
        CompilerEnvState(f"cbench-v1/{name}", "sroa,instcombine")
        for name in ("crc32", "sha", "qsort", "bitcount")
    ]
    results = list(compiler_gym.validate_states(make, states, nproc=2, inorder=True))
    assert [r.state for r in results] == states
    assert all(result.benchmark_semantics_validated for result in results)
