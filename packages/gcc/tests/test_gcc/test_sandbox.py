# SPDX-License-Identifier: MIT
"""Programs of other people are compiled where they can read no file of the user's."""

from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import BenchmarkInitError, CompilerError
from compiler_gym.registration import make
from compiler_gym.sandbox import available
from compiler_gym.service import Limits
from compiler_gym_gcc import GccEnv

TIERS = [tier.value for tier in available() if tier.value != "none"]


def compiled(env: GccEnv, benchmark: Benchmark) -> bytes:
    """Return the object file of a program."""
    env.reset(benchmark=benchmark)
    return bytes(env.observation["obj"])


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("source", ['#include "{}"\n', 'asm(".incbin \\"{}\\"");\nint one;\n'])
def test_an_untrusted_source_reads_no_file(source: str, tier: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("int of_the_user;\n")
    text = source.format(secret).encode()
    with make("gcc-v0", limits=Limits(sandbox=tier)) as env:
        assert isinstance(env.unwrapped, GccEnv)
        theirs = Benchmark.from_file_contents("benchmark://strangers-v0/reader.c", text)
        with pytest.raises((BenchmarkInitError, CompilerError), match="secret") as failure:
            compiled(env.unwrapped, theirs)
        assert "of_the_user" not in str(failure.value)
        ours = Benchmark.from_file_contents("benchmark://user-v0/reader.c", text)
        assert b"of_the_user" in compiled(env.unwrapped, ours)
