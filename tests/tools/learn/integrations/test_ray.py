# SPDX-License-Identifier: MIT
"""A cluster loses a node in the middle of the work, and no result is lost."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.integrations.ray import (
    Job,
    Outcome,
    Store,
    evaluate_actions,
    run_jobs,
    search_program,
    spread_tasks,
)
from compiler_gym_corpus.packages import (
    BuildOutcome as PackageOutcome,
)
from compiler_gym_corpus.packages import (
    LockedPackage,
    PackageBuilder,
    read_results,
)
from test_corpus.packages.sources import (
    LIMITS,
    AssemblyCompiler,
    FolderSupplier,
    make_source,
    needs_tools,
)


def test_a_store_keeps_outcomes_and_survives_a_line_cut_off(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "store.jsonl")
    assert list(store) == []
    first = Outcome(Job("fake-v0/1", actions=(1, 2)), {"reward": 1.0}, node="a")
    store.add(first)
    with store.path.open("a") as file:
        file.write('{"job": {"prog')
    second = Outcome(Job("fake-v0/2"), {}, "SessionError: no")
    store.add(second)
    assert list(store) == [first, second]


def test_jobs_that_differ_have_other_keys() -> None:
    jobs = [Job("a"), Job("b"), Job("a", seed=1), Job("a", actions=(1,))]
    assert len({job.key for job in jobs}) == 4
    assert Job("a").key == Job("a").key


def test_the_work_itself_needs_no_cluster() -> None:
    found = search_program(Job("cbench-v1/crc32", steps=60))
    again = evaluate_actions(Job("cbench-v1/crc32", actions=tuple(found["actions"])))
    assert again["reward"] == pytest.approx(found["reward"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_node_is_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    ray: Any = pytest.importorskip("ray", reason="ray is missing")
    utils: Any = pytest.importorskip("ray.cluster_utils", reason="ray is missing")

    cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        other = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        jobs = [
            Job(f"cbench-v1/{name}", seed=seed, steps=150)
            for name in ("crc32", "sha")
            for seed in range(4)
        ]
        store = Store(tmp_path / "store.jsonl")
        killed: list[int] = []

        def kill_once(outcome: Outcome) -> None:
            if not killed:
                killed.append(1)
                cluster.remove_node(other, allow_graceful=False)

        outcomes = run_jobs(jobs, search_program, store, on_outcome=kill_once)
        assert killed
        assert [outcome.job for outcome in outcomes] == jobs
        assert [outcome.error for outcome in outcomes] == [None] * len(jobs)
        assert len(list(store)) == len(jobs)
        calls: list[Outcome] = []
        assert run_jobs(jobs, search_program, store, on_outcome=calls.append) == outcomes
        assert calls == []
        (refused,) = run_jobs([Job("no-such-v0/1")], evaluate_actions, store)
        assert "UnknownNameError" in str(refused.error)
        with pytest.raises(InvalidParameterError, match="retries is -1"):
            run_jobs(jobs, search_program, store, retries=-1)
    finally:
        ray.shutdown()
        cluster.shutdown()


@needs_tools
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_costs_no_package(tmp_path: Path) -> None:
    ray: Any = pytest.importorskip("ray", reason="ray is missing")
    names = [f"package{number}" for number in range(4)]
    (tmp_path / "sources").mkdir()
    for name in names:
        make_source(tmp_path / "sources", name, {"a.c": "int x;\n"}, "gcc -c a.c; sleep 4")
    supplier = NotingSupplier(tmp_path / "sources")
    builder = PackageBuilder(tmp_path / "output", supplier, AssemblyCompiler(), LIMITS)
    packages = [LockedPackage(name, "1") for name in names]
    killed: list[int] = []
    killer = threading.Thread(target=kill_whoever_builds, args=(tmp_path / "sources", killed))
    root = str(Path(__file__).parents[4])  # workers import the suppliers of these tests
    ray.init(
        num_cpus=2,
        log_to_driver=False,
        include_dashboard=False,
        runtime_env={"env_vars": {"PYTHONPATH": f"{root}:{root}/tests"}},
    )
    killer.start()
    try:
        ended = {package.name: result for package, result in spread_tasks(packages, builder)}
    finally:
        ray.shutdown()
        killer.join()

    assert killed, ended
    assert {name: getattr(result, "outcome", result) for name, result in ended.items()} == (
        dict.fromkeys(names, PackageOutcome.BUILT)
    )
    assert [result.package for _, result in read_results(tmp_path / "output")] == names
    left = sorted(path.name for path in (tmp_path / "output" / "packages").iterdir())
    assert left == [f"{name}_1" for name in names]
    begun = [path.read_text().split() for path in sorted((tmp_path / "sources").glob("*.pids"))]
    assert sum(map(len, begun)) == len(names) + 1  # one was begun twice, and by another process
    assert len({*next(pids for pids in begun if len(pids) == 2)}) == 2


class NotingSupplier(FolderSupplier):
    """Notes which process begins to build which package."""

    def source(self, package: LockedPackage, into: Path) -> Path:
        with (self.folder / f"{package.name}.pids").open("a") as file:
            file.write(f"{os.getpid()}\n")
        return super().source(package, into)


def kill_whoever_builds(folder: Path, killed: list[int]) -> None:
    """Kill the process that was the second to begin, while its package sleeps."""
    for _ in range(600):
        begun = sorted(folder.glob("*.pids"), key=lambda path: path.stat().st_mtime)
        if len(begun) >= 2:
            time.sleep(2)
            killed.append(int(begun[1].read_text().split()[0]))
            os.kill(killed[0], signal.SIGKILL)
            return
        time.sleep(0.1)
