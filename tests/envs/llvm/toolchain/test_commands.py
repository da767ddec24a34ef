# SPDX-License-Identifier: MIT
"""Commands of opt and llc are written in one place, and read as they are written."""

import pytest

from compiler_gym.builds.compilation_database import split_command
from compiler_gym.envs.llvm.toolchain.commands import (
    CLEAR,
    is_llc,
    is_opt,
    join_pipelines,
    llc_command,
    opt_command,
    opt_parts,
    split_passes,
    split_pipeline,
)
from compiler_gym.errors import InvalidActionError


def test_a_pipeline_is_split_at_commas_outside_brackets() -> None:
    text = "function(sroa<a;b>,loop(x,y)), globaldce,,cgscc(inline<only-mandatory>)"
    assert split_pipeline(text) == [
        "function(sroa<a;b>,loop(x,y))",
        "globaldce",
        "cgscc(inline<only-mandatory>)",
    ]
    assert split_pipeline(" ") == []


def test_actions_are_joined_and_split_again() -> None:
    actions = ["function(sroa<modify-cfg>)", "globaldce"]
    assert CLEAR in join_pipelines(actions)
    assert split_passes(join_pipelines(actions)) == actions


def test_a_command_is_read_as_it_is_written() -> None:
    text = opt_command(
        "sroa,dce", "a.bc", "-", options=[("inline-threshold", "5")], keeps_use_lists=True
    )
    words = split_command(text)
    assert is_opt(words[0])
    assert opt_parts(words[1:]) == ["-inline-threshold=5", "sroa", "dce"]
    assert "-passes" not in opt_command("", "a.bc")
    assert split_command(llc_command(["--regalloc=basic"]))[:3] == [
        "llc", "-filetype=obj", "--regalloc=basic",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["opt", "opt-18", "opt-22.1"])
def test_every_version_of_opt_is_one(text: str) -> None:
    assert is_opt(text)
    assert not is_llc(text)
    assert not is_opt(f"/tmp/{text}")


@pytest.mark.parametrize(
    "words", [["a.bc", "b.bc"], ["a.bc", "-o", "b.bc", "-o", "c.bc"], ["a.bc;", "-o", "b"]]
)
def test_more_than_one_file_is_refused(words: list[str]) -> None:
    with pytest.raises(InvalidActionError, match="is neither an action nor the file"):
        opt_parts(["-passes=dce", *words])
