# SPDX-License-Identifier: MIT
"""A run that is killed goes on without losing an episode that had ended."""

import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym import CompilerEnvState, CompilerEnvStateReader
from compiler_gym.errors import CacheError, InvalidParameterError
from compiler_gym.runs import RunFolder, summarise
from compiler_gym.runs.folder import Scalars, facts
from tests.stand_ins import stand_in

CONFIG = {"task": "demo", "limit": 3}


def test_episodes_are_kept_with_their_states(tmp_path: Path) -> None:
    state = CompilerEnvState("cbench-v1/sha", "opt", 1.0, 0.5)
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        assert run.find_result("a") is None
        run.record("a", {"reward": 0.5, "path": Path("x")}, state)
        run.progress(1, reward=0.5)
    again = RunFolder.open(tmp_path, "search", CONFIG)
    assert again.find_result("a") == {"reward": 0.5, "path": "x"}
    assert list(CompilerEnvStateReader.read_paths([tmp_path / "states.jsonl"])) == [state]
    assert list(again.numbers()) == [{"step": 1, "reward": 0.5}]


def test_a_line_that_was_cut_is_played_again(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path, "search", CONFIG)
    run.record("a", {"reward": 1.0})
    with (tmp_path / "episodes.jsonl").open("a") as file:
        file.write('{"key": "b", "resu')
    run.close()
    again = RunFolder.open(tmp_path, "search", CONFIG)
    assert again.find_result("a") == {"reward": 1.0}
    assert again.find_result("b") is None
    again.record("b", {"reward": 2.0})
    assert [line["key"] for line in again.episodes()] == ["a", "b"]


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    RunFolder.open(tmp_path, "search", CONFIG)
    with pytest.raises(InvalidParameterError, match="has a run whose config"):
        RunFolder.open(tmp_path, "search", {"task": "other"})
    with pytest.raises(InvalidParameterError, match="whose kind is"):
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
                if run.find_result(str(i)) is None:
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
            assert again.find_result(line.strip()) == {"reward": int(line)}
    assert not again.is_done


def disk(path: Path, size: str) -> Path:
    """Mount a small disk at `path`, where this user may."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small disk can be mounted: {done.stderr.decode(errors='replace')}")
    return path


def test_a_full_disk_loses_no_reported_row(tmp_path: Path) -> None:
    path = disk(tmp_path / "disk", "64k")
    try:
        state = CompilerEnvState("cbench-v1/sha", "opt " + "-x " * 300)
        run = RunFolder.open(path / "run", "search", CONFIG)
        kept: list[str] = []
        while error_of(run, str(len(kept)), {"text": "x" * 997}, state) == "":
            kept.append(str(len(kept)))
        assert len(kept) > 5
        refused = str(len(kept))
        assert run.find_result(refused) is None
        assert [line["key"] for line in run.episodes()] == kept
        said = error_of(run, refused, {"reward": 0, "text": "x" * 5000}, state)
        assert re.search(r"cannot write .*\.jsonl: No space left.*free some", said)
        run.close()
        again = RunFolder.open(path / "run", "search", CONFIG)
        assert [line["key"] for line in again.episodes()] == kept
        states = list(CompilerEnvStateReader.read_paths([path / "run" / "states.jsonl"]))
        assert len(states) == len(kept)
        subprocess.run(["mount", "-o", "remount,size=1m", str(path)], check=True)
        again.record(refused, {"reward": 1}, state)
        again.close()
        last = RunFolder.open(path / "run", "search", CONFIG)
        assert [line["key"] for line in last.episodes()] == [*kept, refused]
        last.close()
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)


def error_of(
    run: RunFolder, key: str, result: dict[str, Any], state: CompilerEnvState | None = None
) -> str:
    """Record a result and return what was said against it."""
    try:
        run.record(key, result, state)
    except CacheError as error:
        return str(error)
    return ""


class FullDisk:
    """Stands for `os.write` on a disk that has room for some bytes."""

    def __init__(self, room: int, write: Callable[[int, bytes], int]) -> None:
        self.room = room
        self.write = write

    def __call__(self, descriptor: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self.write(descriptor, bytes(data)[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", range(0, 260, 13))
def test_a_short_write_keeps_a_line_or_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    state = CompilerEnvState("cbench-v1/sha", "opt")
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        run.record("a", {"reward": 1.0}, state)
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", FullDisk(room, os.write))
            said = error_of(run, "b", {"reward": 2.0}, state)
        assert said == "" or "jsonl: No space left" in said
        kept = ["a", *([] if said else ["b"])]
        run.record("d", {"reward": 4.0}, state)  # the same run goes on when there is room
        kept.append("d")
        assert [line["key"] for line in run.episodes()] == kept
    with RunFolder.open(tmp_path, "search", CONFIG) as again:
        assert [line["key"] for line in again.episodes()] == kept
        again.record("c", {"reward": 3.0}, state)
    states = list(CompilerEnvStateReader.read_paths([tmp_path / "states.jsonl"]))
    assert len(states) == len(kept) + 1


def test_many_short_writes_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(
        os, "write", stand_in(lambda descriptor, data: real(descriptor, bytes(data)[:3]))
    )
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        run.record("a", {"reward": 1.0})
    monkeypatch.undo()
    with RunFolder.open(tmp_path, "search", CONFIG) as again:
        assert again.find_result("a") == {"reward": 1.0}


def test_a_damaged_file_is_the_one_that_is_named(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        run.record("a", {"reward": 1.0})
    for damage in ('{"key": "x\n', "[]\n", "{}\n", '{"key": []}\n', "\xff\n", "[" * 100_000 + "\n"):
        (tmp_path / "episodes.jsonl").write_bytes(damage.encode("latin-1"))
        with pytest.raises(CacheError, match=r"episodes\.jsonl.* is damaged"):
            RunFolder.open(tmp_path, "search", CONFIG)
    (tmp_path / "episodes.jsonl").unlink()
    for damage in ("[]", "[" * 100_000, "\xff", ""):
        (tmp_path / "run.json").write_bytes(damage.encode("latin-1"))
        with pytest.raises(CacheError, match=r"run\.json is damaged"):
            RunFolder.open(tmp_path, "search", CONFIG)


WRITER = """
import sys
from compiler_gym.runs import RunFolder, summarise
run = RunFolder.open(sys.argv[1], "search", {"task": "demo", "limit": 3})
run.record("first", {})
print("open", flush=True)
sys.stdin.read()
"""


def test_a_second_writer_gets_the_name_of_the_first(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"open\n"
        named = f"process {first.pid} on {socket.gethostname()}"
        with pytest.raises(CacheError, match=named):
            RunFolder.open(tmp_path, "search", CONFIG)
        first.kill()
        first.wait()
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        assert run.find_result("first") == {}
        with pytest.raises(CacheError, match=f"process {os.getpid()} .this one. on"):
            RunFolder.open(tmp_path, "search", CONFIG)
    with pytest.raises(CacheError, match="until it is closed"):
        run.record("late", {})


def test_a_forked_process_neither_writes_nor_keeps_the_lock(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path, "search", CONFIG)
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(done)
        try:
            run.record("child", {})
        except CacheError:
            os.read(ready, 1)
            os._exit(7)
        os._exit(1)
    os.close(ready)
    run.record("parent", {})
    run.close()
    with RunFolder.open(tmp_path, "search", CONFIG) as again:  # while the child lives
        assert [line["key"] for line in again.episodes()] == ["parent"]
    os.close(done)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_key_is_there_once(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        for result in ({"reward": 1.0}, {"reward": 1.0}, {"reward": 2.0}):
            run.record("a", result)
            run.record("b", {"reward": 0.0})
    with RunFolder.open(tmp_path, "search", CONFIG) as again:
        again.record("a", {"reward": 3.0})
    lines = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert {line["key"]: line["result"]["reward"] for line in lines} == {"a": 3.0, "b": 0.0}
    assert len(lines) == 2
    assert summarise(tmp_path).episodes == 2


def test_a_state_whose_episode_was_not_recorded_is_dropped(tmp_path: Path) -> None:
    state = CompilerEnvState("cbench-v1/sha", "opt")
    with RunFolder.open(tmp_path, "search", CONFIG) as run:
        run.record("a", {}, state)
    with (tmp_path / "states.jsonl").open("a") as file:  # killed after the state
        file.write(json.dumps(state.dict()) + "\n")
    with RunFolder.open(tmp_path, "search", CONFIG) as again:
        again.record("b", {}, state)
    assert len(list(CompilerEnvStateReader.read_paths([tmp_path / "states.jsonl"]))) == 2


def test_a_run_says_what_it_depends_on(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", "training", CONFIG, seeds={"env": 7}) as run:
        assert not run.is_done
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (document["kind"], document["config"], document["seeds"]) == (
        "training", CONFIG, {"env": 7},
    )  # fmt: skip
    assert {"compiler_gym", "python", "numpy"} <= document["versions"].keys()
    assert document["host"]["processors"] >= 1
    assert set(document) >= {"started", "command", "git"}
    assert RunFolder.open(tmp_path / "run", "training", CONFIG, seeds={"env": 7}).is_done


def test_a_revision_is_that_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert facts()["git"] is None
    name = ("-c", "user.name=n", "-c", "user.email=e")
    for command in (("init", "-q"), (*name, "commit", "-q", "--allow-empty", "-m", "m")):
        subprocess.run(["git", *command], check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    assert facts()["git"] == {"revision": head, "changed": False}
    (tmp_path / "a").touch()
    assert facts()["git"]["changed"] is False, "what git does not follow does not count"
    subprocess.run(["git", "add", "a"], check=True)
    assert facts()["git"]["changed"] is True


def test_without_git_there_is_no_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = facts()
    assert found["git"] is None
    assert found["host"]["processor"]
    json.dumps(found)


def test_tensorboard_is_named_when_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(InvalidParameterError, match="pip install tensorboard"):
        RunFolder.open(tmp_path, "search", CONFIG, tensorboard=True)


def test_numbers_reach_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is missing")
    with RunFolder.open(tmp_path, "search", CONFIG, tensorboard=True) as run:
        run.progress(3, reward=0.5)
    (events,) = tmp_path.glob("events.out.tfevents.*")
    assert b"reward" in events.read_bytes()


def test_each_number_is_an_event_of_its_name_and_step() -> None:
    events: list[tuple[int, dict[str, float]]] = []
    closed: list[bool] = []

    class Summary:
        class Value:
            def __init__(self, tag: str, simple_value: float) -> None:
                self.pair = (tag, simple_value)

        def __init__(self, value: list[Value]) -> None:
            self.numbers = dict(one.pair for one in value)

    class Writer:
        def add_event(self, event: tuple[int, dict[str, float]]) -> None:
            events.append(event)

        def close(self) -> None:
            closed.append(True)

    def event(*, wall_time: float, step: int, summary: Summary) -> tuple[int, dict[str, float]]:
        assert wall_time > 0
        return step, summary.numbers

    scalars = Scalars(Writer(), event, Summary)
    scalars.add(3, {"reward": 1, "loss": 0.5})
    scalars.add(4, {})
    scalars.close()
    assert events == [(3, {"reward": 1.0, "loss": 0.5}), (4, {})]
    assert closed == [True]
