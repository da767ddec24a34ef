# SPDX-License-Identifier: MIT
"""The Tab key offers what there is, and files where there is no answer."""

import os
from pathlib import Path

import pytest

from compiler_gym.testing import wait_until
from tests.command_line import Run
from tests.loading import needs_packages


def offered(cli: Run, *words: str, **environment: str) -> list[str]:
    """Return what bash is told for the last of `words`."""
    ran = cli(
        _COMPILER_GYM_COMPLETE="complete_bash",
        COMP_WORDS=" ".join(["compiler-gym", *words]),
        COMP_CWORD=str(len(words)),
        **environment,
    )
    assert ran.status == 0, ran.errors
    return ran.output.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param(("describe", "mlir"), ["mlir-v0"], marks=needs_packages),
        (("run", "cb"), ["cbench-v1/"]),
        (("search", "cbench-v1/crc"), ["cbench-v1/crc32"]),
        (("run", "cbench-v1/crc32", "sroa<mod"), []),
        (("run", "cbench-v1/crc32", "mem2"), ["mem2reg"]),
        pytest.param(("run", "cbench-v1/crc32", "--env", "gcc"), ["gcc-v0"], marks=needs_packages),
        (("search", "--algorithm", "lo"), ["local"]),
        (("tune", "--goal", "s"), ["size", "speed"]),
        (("tune", "--measure", "lo"), ["loaded"]),
        (("tune", "--recipe", "siz"), []),
        pytest.param(("hunt", "--goal", "cy"), ["cycles"], marks=needs_packages),
        pytest.param(("hunt", "--compiler", "gc"), ["gcc"], marks=needs_packages),
        (("validate", "--sandbox", "name"), ["namespaces"]),
        pytest.param(("conformance", "--carrier", "st"), ["stdio"], marks=needs_packages),
        pytest.param(("tasks", "--difficulty", "ea"), ["easy"], marks=needs_packages),
        pytest.param(("replay", "--env", "gcc"), ["gcc-v0"], marks=needs_packages),
        pytest.param(("web", "cbench-v1/crc"), ["cbench-v1/crc32"], marks=needs_packages),
        (("collect", "llvm-v0", "--costs", "IrHas"), ["IrHash"]),
        (("tune", "--output", "x"), []),
        pytest.param(
            ("search", "--env", "loop_tool-v0", "--action-space", "spl"),
            ["split"],
            marks=needs_packages,
        ),
        (("search", "--reward", "IrInstructionCountN"), ["IrInstructionCountNorm"]),
        (("run", "cbench-v1/crc32", "--observe", "Autophase"), ["Autophase", "AutophaseDict"]),
        (("recipe", "show", "sm"), ["small", "small-packed"]),
        (("datasets", "install", "poj"), ["poj104-v1"]),
        (("leaderboard", "run", "llvm-ic-10"), ["llvm-ic-10s", "llvm-ic-10x", "llvm-ic-100x"]),
        (("search", "--env", "no-such-v0", "--reward", "Ir"), []),
    ],
)
def test_the_tab_key_offers_names(cli: Run, words: tuple[str, ...], names: list[str]) -> None:
    assert offered(cli, *words) == names


def test_the_last_answer_of_an_environment_is_offered_again_and_renewed_in_the_background(
    cli: Run, tmp_path: Path
) -> None:
    words, cache = ("run", "cbench-v1/crc32", "mem2"), {"COMPILER_GYM_CACHE": str(tmp_path)}
    assert offered(cli, *words, **cache) == ["mem2reg"]
    (kept,) = (tmp_path / "completions").iterdir()
    first = kept.read_text()
    kept.write_text("mem2kept")
    assert offered(cli, *words, **cache) == ["mem2kept"]
    assert offered(cli, *words, **cache) == ["mem2kept"]
    os.utime(kept, (0, 0))
    assert offered(cli, *words, **cache) == ["mem2kept"]
    assert wait_until(lambda: kept.read_text() == first)
    assert offered(cli, *words, **cache) == ["mem2reg"]
