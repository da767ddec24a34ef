# SPDX-License-Identifier: MIT
"""Programs of an environment run in the sandbox that was asked for, and results name it."""

from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import CompilerDiagnosticError, SandboxError
from compiler_gym.sandbox import available, use_sandbox
from compiler_gym.service import Limits
from tests.envs.llvm.running_programs import MakeEnv, program, started

ASKS = (
    "#include <stdio.h>\n#include <unistd.h>\n"
    'int main(void) { char d[999]; fprintf(stderr, "%s.", getcwd(d, 999)); return 1; }'
)
"""Fails, so that its error says where it ran: in ``/box`` where that is a machine of its own."""


@pytest.mark.parametrize("tier", available(), ids=lambda tier: tier.value)
@pytest.mark.parametrize("isolation", ["process", "in-process"])
def test_observations_run_in_the_sandbox_of_the_limits(
    make_env: MakeEnv, tier: object, isolation: str
) -> None:
    name = str(getattr(tier, "value", ""))
    env = started(make_env, program(ASKS), limits=Limits(sandbox=name), isolation=isolation)
    assert env.sandbox == name
    with pytest.raises(Exception, match="exit status 1") as failure:
        _ = env.observation["Runtime"]
    assert str(failure.value).endswith("/box.") == (name == "namespaces")


def test_validation_names_the_sandbox_that_was_nearest(make_env: MakeEnv) -> None:
    env = started(make_env, "cbench-v1/crc32", limits=Limits(sandbox="limits"))
    result = env.validate()
    assert (result.okay(), result.sandbox) == (True, "limits")
    assert result.to_json()["sandbox"] == "limits"
    assert env.validate(sandbox="none").sandbox == "none"
    with use_sandbox("none"):
        assert env.validate().sandbox == "limits"


def test_a_sandbox_that_does_not_work_here_is_refused_at_reset(
    make_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compiler_gym.sandbox.tiers._way", lambda: (None, "no namespaces here"))
    env = make_env(limits=Limits(sandbox="namespaces"))
    with pytest.raises(SandboxError, match="no namespaces here"):
        env.reset(benchmark="cbench-v1/crc32")


def test_an_untrusted_program_reads_no_file_during_code_generation(
    make_env: MakeEnv, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the user")
    text = (
        'target triple = "x86_64-unknown-linux-gnu"\n'
        f'module asm ".incbin \\22{secret}\\22"\n'
        "define i32 @main() {\n ret i32 0\n}\n"
    ).encode()
    theirs = Benchmark.from_file_contents("benchmark://strangers-v0/reader", text)
    env = started(make_env, theirs)
    with pytest.raises(CompilerDiagnosticError, match="only permitted"):
        _ = env.observation["ObjectTextSizeBytes"]
    ours = Benchmark.from_file_contents("benchmark://user-v0/reader", text)
    env = started(make_env, ours)
    assert env.observation["ObjectTextSizeBytes"] > 0
