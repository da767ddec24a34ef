# SPDX-License-Identifier: MIT
"""The Tab key offers what there is, and files where there is no answer."""

import pytest

from tests.command_line import Run
from tests.loading import needs_packages


def offered(cli: Run, *words: str) -> list[str]:
    """Return what bash is told for the last of `words`."""
    ran = cli(
        _COMPILER_GYM_COMPLETE="complete_bash",
        COMP_WORDS=" ".join(["compiler-gym", *words]),
        COMP_CWORD=str(len(words)),
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
        (("leaderboard", "run", "llvm-ic-1"), ["llvm-ic-1s", "llvm-ic-10s"]),
        (("search", "--env", "no-such-v0", "--reward", "Ir"), []),
    ],
)
def test_the_tab_key_offers_names(cli: Run, words: tuple[str, ...], names: list[str]) -> None:
    assert offered(cli, *words) == names
