# SPDX-License-Identifier: MIT
"""The Tab key offers what there is, and files where there is no answer."""

import pytest

from tests.command_line import Run


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
        (("describe", "mlir"), ["mlir-v0"]),
        (("run", "cb"), ["cbench-v1/"]),
        (("search", "cbench-v1/crc"), ["cbench-v1/crc32"]),
        (("run", "cbench-v1/crc32", "sroa<mod"), []),
        (("run", "cbench-v1/crc32", "mem2"), ["mem2reg"]),
        (("run", "cbench-v1/crc32", "--env", "gcc"), ["gcc-v0"]),
        (("search", "--algorithm", "lo"), ["local"]),
        (("tune", "--goal", "s"), ["size", "speed"]),
        (("tune", "--measure", "lo"), ["loaded"]),
        (("tune", "--recipe", "siz"), []),
        (("hunt", "--goal", "cy"), ["cycles"]),
        (("hunt", "--compiler", "gc"), ["gcc"]),
        (("validate", "--sandbox", "name"), ["namespaces"]),
        (("conformance", "--carrier", "st"), ["stdio"]),
        (("tasks", "--difficulty", "ea"), ["easy"]),
        (("replay", "--env", "gcc"), ["gcc-v0"]),
        (("web", "cbench-v1/crc"), ["cbench-v1/crc32"]),
        (("collect", "llvm-v0", "--costs", "IrHas"), ["IrHash"]),
        (("tune", "--output", "x"), []),
        (("search", "--env", "loop_tool-v0", "--action-space", "spl"), ["split"]),
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
