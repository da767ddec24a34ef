# SPDX-License-Identifier: MIT
"""A run that is killed goes on without losing an episode that had ended."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from compiler_gym import CompilerEnvState, CompilerEnvStateReader
from compiler_gym.errors import CacheError, InvalidParameterError
from compiler_gym.runs import RunFolder

CONFIG = {"task": "demo", "limit": 3}


def test_episodes_are_kept_with_their_states(tmp_path: Path) -> None:
    state = CompilerEnvState("cbench-v1/sha", "opt", 1.0, 0.5)
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        assert run.result_of("a") is None
        run.record("a", {"reward": 0.5, "path": Path("x")}, state)
        run.progress(1, reward=0.5)
    again = RunFolder.open(tmp_path, "search", CONFIG)
    assert again.result_of("a") == {"reward": 0.5, "path": "x"}
    assert list(CompilerEnvStateReader.read_paths([tmp_path / "states.jsonl"])) == [state]
    assert list(again.numbers()) == [{"step": 1, "reward": 0.5}]


def test_a_line_that_was_cut_is_played_again(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path, "search", CONFIG)
    run.record("a", {"reward": 1.0})
    with (tmp_path / "episodes.jsonl").open("a") as file:
        file.write('{"key": "b", "resu')
    again = RunFolder.open(tmp_path, "search", CONFIG)
    assert again.result_of("a") == {"reward": 1.0}
    assert again.result_of("b") is None
    again.record("b", {"reward": 2.0})
    assert [line["key"] for line in again.episodes()] == ["a", "b"]


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    RunFolder.open(tmp_path, "search", CONFIG)
    with pytest.raises(InvalidParameterError, match="holds a run with another config"):
        RunFolder.open(tmp_path, "search", {"task": "other"})
    with pytest.raises(InvalidParameterError, match="another kind"):
        RunFolder.open(tmp_path, "training", CONFIG)


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="cannot write"):
        RunFolder.open(tmp_path / "file" / "run", "search", CONFIG)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(CacheError, match=r"run\.json is damaged"):
        RunFolder.open(tmp_path, "search", CONFIG)


def test_a_run_that_raises_is_not_done(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="broken"), RunFolder.open(tmp_path, "search", CONFIG):
        raise RuntimeError("broken")
    assert not (tmp_path / "done").exists()


def test_no_episode_is_lost_when_a_run_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import sys
        from compiler_gym.runs import RunFolder
        with RunFolder.open({str(tmp_path)!r}, "training", {CONFIG!r}) as run:
            for i in range(100_000):
                if run.result_of(str(i)) is None:
                    run.record(str(i), {{"reward": i}})
                    print(i, flush=True)
        """
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        said = [running.stdout.readline() for _ in range(50)]
        running.send_signal(signal.SIGKILL)
        said += running.stdout.read().splitlines()
    again = RunFolder.open(tmp_path, "training", CONFIG)
    for line in said:
        if line.strip().isdigit():
            assert again.result_of(line.strip()) == {"reward": int(line)}
    assert not again.is_done
