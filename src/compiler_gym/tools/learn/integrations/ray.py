# SPDX-License-Identifier: MIT
"""Run searches and evaluations as Ray tasks, on one machine or a cluster.

The outcome of each job is a line in a store, which only the calling process writes. A job whose
node is lost runs again elsewhere, and an interrupted run continues from its store. Needs the extra
``ray`` on every node.
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

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job:
    """A search or an evaluation of one program."""

    program: str
    """The address of the program."""
    env: str = field(default_factory=partial(default_environment, Use.SEARCH))
    """The id of the environment."""
    seed: int = 0
    steps: int = 500
    """The number of new actions that a search may try."""
    algorithm: str = "random"
    """The name of a search algorithm."""
    actions: tuple[int, ...] = ()
    """The actions to evaluate."""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of `make`."""

    @property
    def key(self) -> str:
        """The text that identifies this job in a store."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job."""

    job: Job
    result: dict[str, Any]
    """The result of the work; empty if it failed."""
    error: str | None = None
    node: str = ""
    """The node that ran the job."""


class Store:
    """Outcomes as lines of JSON in `path`; an incomplete line is skipped."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[Outcome]:
        for line in whole_lines(self.path):
            job: dict[str, Any] = {**line["job"], "actions": tuple(line["job"]["actions"])}
            yield Outcome(Job(**job), line["result"], line["error"], line["node"])

    def add(self, outcome: Outcome) -> None:
        """Append an outcome and flush it to disk."""
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
    """Return the outcomes of all `jobs`; those already in `store` do not run again.

    `work` runs in a separate process on some node, and again up to `retries` times if its node or
    process is lost. If it raises an exception, the outcome has an error. `address` is that of a
    cluster; without one, Ray is started here unless it is running. `in_flight` bounds the number
    of jobs submitted to Ray at a time.
    """
    by_key = {job.key: job for job in jobs}
    done = {outcome.job.key: outcome for outcome in store if outcome.job.key in by_key}
    waiting = [job for key, job in by_key.items() if key not in done]
    for job, result in spread_tasks(
        waiting,
        partial(_work, work),
        address=address,
        retries=retries,
        in_flight=in_flight,
        cpus=cpus,
    ):
        outcome = _outcome(job, result)
        store.add(outcome)
        done[outcome.job.key] = outcome
        if on_outcome is not None:
            on_outcome(outcome)
    return [done[key] for key in by_key]


def spread_tasks(
    items: Iterable[Item],
    work: Callable[[Item], Result],
    *,
    address: str | None = None,
    retries: int = 5,
    in_flight: int | None = None,
    cpus: float = 1.0,
) -> Iterator[tuple[Item, Result | Exception]]:
    """Yield each of `items` with the result of `work` for it, in order of completion.

    The arguments are those of `run_jobs`. If `work` fails, or its task is lost for good, the
    exception takes the place of the result. Stopping the iteration cancels the running tasks.
    """
    ray = library("ray", "ray")
    if retries < 0:
        raise InvalidParameterError(f"retries must be at least 0 (got {retries})")
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
                    result = ray.get(reference)
                except ray.exceptions.RayError as error:
                    result = error
                yield item, result
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def search_program(job: Job) -> dict[str, Any]:
    """Search the job's program and return the best sequence."""
    from compiler_gym.registration import make
    from compiler_gym.search import Budget, run_search

    (result,) = run_search(
        lambda: make(job.env, **job.arguments),
        [job.program],
        algorithm=job.algorithm,
        budget=Budget(steps=job.steps),
        jobs=1,
        seed=job.seed,
    )
    fields = ("actions", "action_names", "commandline", "reward", "steps", "failures")
    return {name: value for name, value in result.to_json().items() if name in fields}


def evaluate_actions(job: Job) -> dict[str, Any]:
    """Return the reward of the job's actions on its program."""
    from compiler_gym.registration import make

    with make(job.env, **job.arguments) as env:
        env.reset(benchmark=job.program)
        _, reward, _, truncated, info = env.multistep(job.actions)
        if truncated:
            raise info["error"]
        return {"reward": reward, "commandline": env.commandline()}


def _call(work: Callable[[Item], Result], item: Item) -> Result:
    """Return ``work(item)``; Ray accepts only functions, and `work` may be a partial object."""
    return work(item)


def _work(
    work: Callable[[Job], dict[str, Any]], job: Job
) -> tuple[dict[str, Any], str | None, str]:
    """Do the work on a node; return an exception as text, because its class may not pickle."""
    node = library("ray", "ray").get_runtime_context().get_node_id()
    try:
        return work(job), None, node
    except Exception as error:
        return {}, f"{type(error).__name__}: {error}", node


def _outcome(job: Job, finished: "tuple[dict[str, Any], str | None, str] | Exception") -> Outcome:
    if isinstance(finished, Exception):
        return Outcome(job, {}, f"{type(finished).__name__}: {str(finished).splitlines()[0]}")
    result, error, node = finished
    # As the store returns it, so that a resumed run has the same outcomes.
    return Outcome(job, json.loads(json.dumps(result)), error, node)
