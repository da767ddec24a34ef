# SPDX-License-Identifier: MIT
"""A collection goes on where it was left, and is then what it would have been."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import CacheError, InvalidParameterError, RecordingError
from compiler_gym.runs import RunFolder, summarise
from compiler_gym.testing import wait_until
from compiler_gym.tools.learn.collection import CollectionProgress, collect
from compiler_gym.tools.learn.collection.collecting import (
    list_shards,
    read_options,
    summarise_collection,
)

from .conftest import fake_options


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "shards").iterdir()}


def test_an_interrupted_collection_becomes_what_it_would_have_been(tmp_path: Path) -> None:
    whole = collect(tmp_path / "whole", fake_options())
    assert (whole.shards, whole.transitions, whole.episodes) == (3, 60, 12)
    assert whole.is_complete
    steps: list[CollectionProgress] = []

    def interrupt(progress: CollectionProgress) -> None:
        steps.append(progress)
        if len(steps) == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(tmp_path / "cut", fake_options(), watch=interrupt)
    assert list(shards(tmp_path / "cut")) == ["000000.parquet"]
    assert not summarise_collection(tmp_path / "cut").is_complete
    left = tmp_path / "cut/shards/.000001.parquet.partial-1-1-x"
    left.write_bytes(b"PAR1")
    again: list[CollectionProgress] = []
    assert collect(tmp_path / "cut", fake_options(), resume=True, watch=again.append) == whole
    assert shards(tmp_path / "cut") == shards(tmp_path / "whole") | {left.name: b"PAR1"}
    assert again[0].steps == 25
    assert again[0].steps_now == 5


def test_a_missing_shard_and_its_line_are_written_again(tmp_path: Path) -> None:
    found = collect(tmp_path, fake_options())
    before = shards(tmp_path)
    (tmp_path / "episodes.jsonl").write_text('{"key": "000001.parq')
    assert summarise_collection(tmp_path) == found
    (tmp_path / "shards/000001.parquet").unlink()
    assert collect(tmp_path, fake_options(), resume=True) == found
    assert shards(tmp_path) == before
    lines = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert sorted(line["key"] for line in lines) == sorted(p.name for p in list_shards(tmp_path))
    assert summarise(tmp_path).kind == "collection"


def test_a_folder_of_another_collection_is_refused_by_what_differs(tmp_path: Path) -> None:
    collect(tmp_path, fake_options())
    with pytest.raises(InvalidParameterError, match=r"already holds a collection; resume it"):
        collect(tmp_path, fake_options())
    with pytest.raises(InvalidParameterError, match=r"config.length is 5, not 6"):
        collect(tmp_path, fake_options(length=6), resume=True)
    with pytest.raises(InvalidParameterError, match=r"config.seed is 0, not 6"):
        collect(tmp_path, fake_options(seed=6), resume=True)
    assert collect(tmp_path, fake_options(jobs=7), resume=True).is_complete
    assert read_options(tmp_path).length == 5


def test_a_folder_without_a_collection_is_reported(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"does not hold a collection.*FileNotFoundError"
    ):
        read_options(tmp_path)
    with RunFolder.open(tmp_path, "search", {}):
        pass
    with pytest.raises(InvalidParameterError, match="it is a run of kind search"):
        read_options(tmp_path)


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    def second(progress: CollectionProgress) -> None:
        with pytest.raises(CacheError, match="is in use by process"):
            collect(tmp_path, fake_options(), resume=True)

    collect(tmp_path, fake_options(steps=5), watch=second)


def test_a_mended_policy_may_go_on(tmp_path: Path) -> None:
    file = tmp_path / "policy.py"
    file.write_text("def policy(env): env.step(0)\n")
    collect(tmp_path / "store", fake_options(policy=str(file), steps=20))
    file.write_text("def policy(env): env.step(1)\n")
    assert collect(
        tmp_path / "store", fake_options(policy=str(file), steps=20), resume=True
    ).is_complete


@pytest.mark.slow
def test_a_full_disk_is_reported_and_complete_shards_stay(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        options = fake_options(steps=100_000, length=500, shard_steps=5_000)
        with pytest.raises((RecordingError, CacheError), match="No space left"):
            collect(tmp_path / "store", options)
        assert summarise_collection(tmp_path / "store").shards >= 1
        assert not list((tmp_path / "store/shards").glob(".*"))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.slow
def test_a_killed_collection_goes_on(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "compiler_gym", "collect", "llvm-v0", "--output"),
        *("store", "--benchmarks", "cbench-v1/crc32", "--steps", "400", "--length", "10"),
        *("--shard-steps", "50", "--jobs", "2"),
    ]
    environment: Any = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as killed:
        assert wait_until(lambda: len(list(tmp_path.glob("store/shards/0*.parquet"))) > 1)
        killed.send_signal(signal.SIGKILL)
    before = len(list(tmp_path.glob("store/shards/0*.parquet")))
    assert before < 8
    subprocess.run([*command, "--resume"], cwd=tmp_path, env=environment, check=True)
    once = [word if word != "store" else "once" for word in command]
    subprocess.run([*once, "--jobs", "1"], cwd=tmp_path, env=environment, check=True)
    assert shards(tmp_path / "store") == shards(tmp_path / "once")
