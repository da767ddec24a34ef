# SPDX-License-Identifier: MIT
"""A collection from the command line: filled, resumed, verified, and refused where it must be."""

from pathlib import Path

import pytest

from compiler_gym.tools.learn.collection import Collection
from tests.command_line import SOURCE, Run

ARGUMENTS = ("--benchmarks", "cbench-v1/crc32", "--steps", "40", "--length", "10", "--jobs", "1")


def test_a_collection_is_filled_resumed_and_verified(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SOURCE)
    first = cli(
        "collect", "llvm-v0", "--output", "store", *ARGUMENTS, "--benchmarks", "sum.c",
        "--observe", "Autophase", "--json",
    ).json  # fmt: skip
    assert (first["transitions"], first["is_complete"], first["failures"]) == (40, True, {})
    names = Collection(tmp_path / "store").layout.schema.names
    assert {"Autophase", "IrInstructionCount", "reward_IrInstructionCountOz"} <= set(names)
    again = cli("collect", "--output", "store", "--resume", "--verify", "2")
    assert again.status == 0, again.errors
    assert "replayed 2 episodes: 0 differ" in again.output
    assert "no step failed" in again.output
    refused = cli("collect", "llvm-v0", "--output", "store", *ARGUMENTS)
    assert refused.status == 2
    assert "already holds a collection; resume it (--resume)" in refused.errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("llvm-v0", *ARGUMENTS[:1], "cbench-v1/none"), "none"),
        (("llvm-v0", *ARGUMENTS, "--policy", "none.py"), "no file none.py"),
        (("llvm-v0", *ARGUMENTS, "--observe", "Autophas"), "Autophase"),
        ((), "does not hold a collection"),
    ],
)
def test_an_impossible_collection_is_reported(
    cli: Run, arguments: tuple[str, ...], said: str
) -> None:
    refused = cli("collect", *arguments, "--output", "other")
    assert refused.status == 2
    assert said in refused.errors
