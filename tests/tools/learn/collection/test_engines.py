# SPDX-License-Identifier: MIT
"""Shards are the same whoever writes them; a process that is lost is told."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from compiler_gym.errors import PolicyError, WorkerCrashedError
from compiler_gym.options import CollectOptions
from compiler_gym.testing import descendants, is_running, wait_until
from compiler_gym.tools.learn.collection import collect, engines
from compiler_gym.tools.learn.collection.engines import engine_for, name_shard_file
from compiler_gym.tools.learn.collection.playing import settle_options

from .conftest import fake_options

CRC = CollectOptions(
    env="llvm-v0", benchmarks=("cbench-v1/crc32",), steps=60, length=5, shard_steps=15, jobs=2
)


def test_few_shards_need_no_other_process(tmp_path: Path) -> None:
    engine = engine_for(fake_options(jobs=8), 1)
    told: list[tuple[int, int]] = []
    written = engine(
        fake_options(), [1], tmp_path, lambda shard, steps: told.append((shard, steps))
    )
    assert list(written) == [1]
    assert name_shard_file(tmp_path, 1).is_file()
    assert told[-1] == (1, 20)


@pytest.mark.slow
def test_two_processes_write_what_one_does_and_leave_nothing(tmp_path: Path) -> None:
    collect(tmp_path / "two", CRC)
    collect(tmp_path / "one", CRC, jobs=1)
    names = sorted(path.name for path in (tmp_path / "two/shards").iterdir())
    assert names == [f"{shard:06}.parquet" for shard in range(4)]
    for name in names:
        one, two = (tmp_path / folder / "shards" / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.slow
def test_a_process_that_is_lost_is_reported_and_the_rest_ended(tmp_path: Path) -> None:
    file = tmp_path / "killer.py"
    file.write_text(
        "import os, signal\n"
        "def policy(env):\n"
        "    print('not an answer')\n"
        "    env.step(0)\n"
        f"    flag = {str(tmp_path / 'flag')!r}\n"
        "    if not os.path.exists(flag):\n"
        "        open(flag, 'w').close()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    settle_options(CRC)  # what this process starts for all of its environments stays
    before = descendants(os.getpid())
    with pytest.raises(WorkerCrashedError, match=rf"exited with status {-signal.SIGKILL}"):
        collect(tmp_path / "store", CRC, policy=str(file))
    left = descendants(os.getpid()) - before
    assert wait_until(lambda: not any(map(is_running, left)))
    assert not list((tmp_path / "store/shards").glob(".*"))
    assert collect(tmp_path / "store", CRC, policy=str(file), resume=True).is_complete
    file.write_text("def policy(env): raise ValueError('no')\n")
    with pytest.raises(PolicyError, match="ValueError: no"):
        collect(tmp_path / "other", CRC, policy=str(file))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_node_of_ray_is_killed_in_mid_shard_and_nothing_is_lost(tmp_path: Path) -> None:
    ray: Any = pytest.importorskip("ray", reason="ray is missing")
    utils: Any = pytest.importorskip("ray.cluster_utils", reason="ray is missing")

    options = CollectOptions(
        env="llvm-v0", benchmarks=("cbench-v1/crc32",), steps=600, length=20, shard_steps=60
    )
    collect(tmp_path / "here", options, jobs=1)
    cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        other = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        killed: list[int] = []

        def kill_once(progress: Any) -> None:
            if not killed:  # the node has begun its next shard
                killed.append(1)
                cluster.remove_node(other, allow_graceful=False)

        found = collect(tmp_path / "ray", options, ray=True, watch=kill_once)
        assert killed
        assert found.is_complete
        for path in (tmp_path / "here/shards").iterdir():
            assert path.read_bytes() == (tmp_path / "ray/shards" / path.name).read_bytes()
        (tmp_path / "bad.py").write_text("def policy(env): raise ValueError('no')\n")
        with pytest.raises(PolicyError, match="failed in run"):
            collect(tmp_path / "bad", options, ray=True, policy=str(tmp_path / "bad.py"))
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_process_answers_an_error_by_its_class(tmp_path: Path) -> None:
    options = CollectOptions(env="llvm-v0", policy="search:no", benchmarks=("b",))
    done = subprocess.run(
        [sys.executable, "-m", engines.__name__, str(os.getpid()), str(tmp_path)],
        input=msgspec.json.encode(options).decode() + "\n0\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["error"] == "UnknownNameError"
