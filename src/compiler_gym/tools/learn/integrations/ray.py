# SPDX-License-Identifier: MIT
"""Searches and evaluations as tasks of Ray, on one machine or on a cluster.

A job is a record; what came of it is one line in a store that only the caller's process
writes. A job whose node is lost runs again elsewhere, and a run that was stopped goes on
where its store ends. Needs the extra ``ray``, on every node.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.files import append_line, whole_lines, writing
from compiler_gym.registration import Use, default_environment

__all__ = [
    "Job",
    "Outcome",
    "Store",
    "evaluate_actions",
    "run_jobs",
    "search_program",
    "spread_tasks",
]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job:
    """One program, and what to do with it."""

    program: str
    """Its address."""
    env: str = field(default_factory=partial(default_environment, Use.SEARCH))
    """The id of the environment."""
    seed: int = 0
    steps: int = 500
    """How many new actions a search may try."""
    algorithm: str = "random"
    """The name of a search algorithm."""
    actions: tuple[int, ...] = ()
    """What to evaluate."""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    """More arguments of `make`."""

    @property
    def key(self) -> str:
        """What tells this job from others in a store."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job."""

    job: Job
    result: dict[str, Any]
    """What the work returned; empty if it failed."""
    error: str | None = None
    node: str = ""
    """The node that did it."""


class Store:
    """Outcomes as lines of JSON in `path`; a line that was cut off is left out."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[Outcome]:
        for found in whole_lines(self.path):
            job: dict[str, Any] = {**found["job"], "actions": tuple(found["job"]["actions"])}
            yield Outcome(Job(**job), found["result"], found["error"], found["node"])

    def add(self, outcome: Outcome) -> None:
        """Append an outcome and make sure that it lasts."""
        with writing(self.path, RecordingError):
            append_line(self.path, asdict(outcome))


def run_jobs(
    jobs: Iterable[Job],
    work: Callable[[Job], dict[str, Any]],
    store: Store,
    *,
    address: str | None = None,
    retries: int = 5,
    in_flight: int | None = None,
    cpus: float = 1.0,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Return the outcomes of all `jobs`, those that `store` has already included.

    `work` runs on some node, in a process of its own; it is tried again up to `retries`
    times when its node or process is lost. An exception of its own is an outcome with an
    error. `address` is that of a cluster; without one, and if Ray is not running yet, it
    is started here. `in_flight` bounds how many jobs are handed to Ray at a time.
    """
    wanted = {job.key: job for job in jobs}
    done = {outcome.job.key: outcome for outcome in store if outcome.job.key in wanted}
    waiting = [job for key, job in wanted.items() if key not in done]
    for job, ended in spread_tasks(
        waiting, partial(_work, work), address=address, retries=retries, in_flight=in_flight,
        cpus=cpus,
    ):  # fmt: skip
        outcome = _outcome(job, ended)
        store.add(outcome)
        done[outcome.job.key] = outcome
        if on_outcome is not None:
            on_outcome(outcome)
    return [done[key] for key in wanted]


def spread_tasks(
    items: Iterable[Item],
    work: Callable[[Item], Result],
    *,
    address: str | None = None,
    retries: int = 5,
    in_flight: int | None = None,
    cpus: float = 1.0,
) -> Iterator[tuple[Item, Result | Exception]]:
    """Yield each of `items` with what `work` returns of it on some node, as they end.

    The arguments are those of `run_jobs`. What `work` raises, or why it was lost for good, is
    yielded in the place of its result. When the iteration ends early, tasks that run are ended.
    """
    ray = library("ray", "ray")
    if retries < 0:
        raise InvalidParameterError(f"retries is {retries}: expected at least 0")
    if not ray.is_initialized():
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    task = ray.remote(num_cpus=cpus, max_retries=retries, scheduling_strategy="SPREAD")(_call)
    waiting = list(items)
    room = in_flight or max(int(2 * ray.cluster_resources().get("CPU", 1) / cpus), 1)
    running: dict[Any, Item] = {}
    try:
        while waiting or running:
            while waiting and len(running) < room:
                item = waiting.pop(0)
                running[task.remote(work, item)] = item
            ready, _ = ray.wait(list(running), num_returns=1)
            for reference in ready:
                item = running.pop(reference)
                try:
                    ended = ray.get(reference)
                except ray.exceptions.RayError as lost:
                    ended = lost
                yield item, ended
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def search_program(job: Job) -> dict[str, Any]:
    """Return the best sequence that a search finds for the job's program."""
    from compiler_gym.registration import make
    from compiler_gym.search import Budget, run_search

    (found,) = run_search(
        lambda: make(job.env, **job.arguments),
        [job.program],
        algorithm=job.algorithm,
        budget=Budget(steps=job.steps),
        jobs=1,
        seed=job.seed,
    )
    kept = ("actions", "action_names", "commandline", "reward", "steps", "failures")
    return {name: value for name, value in found.to_json().items() if name in kept}


def evaluate_actions(job: Job) -> dict[str, Any]:
    """Return what the job's actions earn on its program."""
    from compiler_gym.registration import make

    with make(job.env, **job.arguments) as env:
        env.reset(benchmark=job.program)
        _, reward, _, truncated, info = env.multistep(job.actions)
        if truncated:
            raise info["error"]
        return {"reward": reward, "commandline": env.commandline()}


def _call(work: Callable[[Item], Result], item: Item) -> Result:
    """Return what `work` does of `item`: Ray takes functions, and `work` may be a partial one."""
    return work(item)


def _work(
    work: Callable[[Job], dict[str, Any]], job: Job
) -> tuple[dict[str, Any], str | None, str]:
    """Do the work on a node; an exception comes back as text, whatever its class."""
    node = library("ray", "ray").get_runtime_context().get_node_id()
    try:
        return work(job), None, node
    except Exception as error:
        return {}, f"{type(error).__name__}: {error}", node


def _outcome(job: Job, ended: "tuple[dict[str, Any], str | None, str] | Exception") -> Outcome:
    if isinstance(ended, Exception):
        return Outcome(job, {}, f"{type(ended).__name__}: {str(ended).splitlines()[0]}")
    result, error, node = ended
    # As the store will have it: a run that goes on later returns the same.
    return Outcome(job, json.loads(json.dumps(result)), error, node)
