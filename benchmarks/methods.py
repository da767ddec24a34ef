# SPDX-License-Identifier: MIT
"""Compare ways to find passes: the same programs, both kinds of -Oz, and what each one costs.

    make results SMALL=1                                    # ten minutes
    make results                                            # days; RAY=1 spreads it over a cluster
    python -m benchmarks.methods --small --method greedy    # one row of the table
    python -m benchmarks.methods --small --write            # the page and its data

A run folder keeps every finished job, so an interrupted run continues. Programs that learners and
coresets train on (`TRAIN` of ``agents/zoo.py``, Debian's train split) are not in the table.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import compiler_gym
from benchmarks.agents import sum_processor_time
from compiler_gym.builds.elf import measure_sizes
from compiler_gym.core import CompilerEnv
from compiler_gym.files import cache_path
from compiler_gym.runs import RunFolder
from compiler_gym.search import Budget, run_search, starting_sequences
from compiler_gym.statistics import bootstrap_interval
from compiler_gym.tools.tune import policy_named
from compiler_gym.tools.tune.llvm.plugin import PLUGIN, explain_problem
from compiler_gym_agents.llvm.compiler_r1 import CompilerR1

__all__ = [
    "METHODS",
    "Job",
    "Size",
    "choose_coreset",
    "find_clusters",
    "list_jobs",
    "main",
    "read_judged",
    "summarise",
    "tables",
]

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "methods.md"
DATA = PAGE.with_suffix(".json")
JUDGED = PAGE.with_name("size-plugin-judged.json")
SUITES = ("cbench-v1", "debian-sample-v0", "large", "held-out")
LARGE = {"lua": "src/l[!u]*.c", "sqlite3": "sqlite3.c"}
"""Projects for which a minute is short, and their sources; ``luac.c`` is another program."""
_BUNDLED, _SMALL, _LARGE = SUITES[:1], SUITES[:2], SUITES[:3]
_REWARD = "IrInstructionCountOz"
_PACKED = "-Wl,-z,pack-relative-relocs"
_LINK = ("-fuse-ld=lld-22", "-Wl,--gc-sections,--icf=safe")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """The extent of a comparison."""

    programs: tuple[str, ...]
    train: tuple[str, ...]
    """Programs from which a coreset is built."""
    seeds: int
    trainings: int
    """Seeds of what learns."""
    steps: int
    """Passes that a search may try on one program."""
    training: int
    """Passes with which a learner trains."""
    coreset: int
    """Sequences in a coreset."""


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of work: a method with one seed, on one program or, if it learns, on all."""

    method: str
    seed: int
    programs: tuple[str, ...]
    size: Size

    @property
    def key(self) -> str:
        """The name of this job in a run folder."""
        return "/".join([self.method, str(self.seed), *self.programs[: len(self.programs) == 1]])


def _small() -> Size:
    zoo = _agent()
    modules = ("minizip/ioapi.c", "publib/nntp/nntp.c", "minizip/mztools.c")
    debian = [f"debian-sample-v0/{module}" for module in modules]
    return Size((*zoo.TEST, *debian), tuple(zoo.TRAIN), 2, 1, 300, 4096, 4)


def _full() -> Size:
    train = _agent().TRAIN
    with _make() as env:
        bundled = sorted(map(str, env.datasets["benchmark://cbench-v1"].benchmark_uris()))
        sample: Any = env.datasets["benchmark://debian-sample-v0"]
        test, learnt = (
            [str(uri) for uri in sample.split(name).benchmark_uris()] for name in ("test", "train")
        )
    programs = [uri.removeprefix("benchmark://") for uri in [*bundled, *sorted(test)]]
    learnt = [uri.removeprefix("benchmark://") for uri in sorted(learnt)[::4]]
    kept = tuple(program for program in programs if program not in train)
    return Size(kept, (*train, *learnt), 5, 5, 3000, 65536, 50)


@cache
def _agent() -> Any:
    """Return ``agents/zoo.py`` as a module."""
    spec = importlib.util.spec_from_file_location("zoo", ROOT / "agents" / "zoo.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["zoo"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _make(space: str = "PassesAndCodegen") -> CompilerEnv:
    return compiler_gym.make("llvm-v0", action_space=space, reward_space=_REWARD)


def _spend() -> float:
    return sum_processor_time(os.getpid())


def _row(
    job: Job,
    program: str,
    passes: Sequence[str],
    compilations: int | None,
    spent: float,
    start: str | None = None,
    **more: Any,
) -> Row:
    """Return the row of a result, with its sizes measured anew; `start` is another module."""
    name = f"large/{Path(program).stem}" if _suite(program) == "large" else program
    row: Row = {"method": job.method, "program": name, "seed": job.seed, "passes": [*passes]}
    with _make() as env:
        env.reset(benchmark=program)
        look = env.observation
        row |= {"instructions_opt_oz": look["IrInstructionCountOptOz"]}
        row |= {
            "instructions_oz": look["IrInstructionCountOz"],
            "object_oz": look["ObjectTextSizeOz"],
        }
        if start is not None:
            env.reset(benchmark=start)
        env.multistep([env.action_space[name] for name in passes])
        row |= {"instructions": look["IrInstructionCount"], "object": look["ObjectTextSizeBytes"]}
        row = {
            name: value if isinstance(value, str | list) else int(value)
            for name, value in row.items()
        }
        if program.startswith("cbench-v1/"):
            row |= {"loaded": _link_native(look["Bitcode"]), "loaded_oz": _link(program)}
    counted = {} if compilations is None else {"compilations": compilations}
    return {**row, **counted, "cpu_seconds": round(spent, 2), **more}


def _link_native(bitcode: bytes) -> int:
    """Return the loaded bytes of a module whose passes have run."""
    flags = ["-Oz", "-Xclang", "-disable-llvm-passes", "-ffunction-sections", "-fdata-sections"]
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.bc"
        module.write_bytes(bitcode)
        return _measure_link(["clang-22", *flags, *_LINK, str(module)])


def _link(program: str, *compiler: str) -> int:
    """Return the loaded bytes of a bundled program's sources, by default of ``clang -Oz -flto``."""
    folder = ROOT / "programs" / program.partition("/")[2]
    described = tomllib.loads((folder / "program.toml").read_text(encoding="utf-8"))
    sources = [str(folder / source) for source in described["sources"]]
    command = compiler or ("clang-22", "-flto", *_LINK)
    return _measure_link([*command, "-Oz", "-std=c11", *sources, *described["link"]])


def _measure_link(command: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        subprocess.run([*command, "-o", str(made)], check=True, stderr=subprocess.DEVNULL)
        return measure_sizes(made).loaded


def _search(
    job: Job, *, algorithm: str, space: str, starts: Any = None, seconds: float = 60
) -> list[Row]:
    """Search one program, until its passes or, on a large program, its `seconds` are used up."""
    (program,) = job.programs
    before, is_large = _spend(), _suite(program) == "large"
    budget = Budget(seconds=seconds) if is_large else Budget(steps=job.size.steps)
    (found,) = run_search(
        partial(_make, space), [program], algorithm=algorithm, jobs=1, seed=job.seed,
        starts=starts, budget=budget,
    )  # fmt: skip
    spent = _spend() - before
    return [_row(job, program, found.action_names, found.sequences, spent)]


def _apply(job: Job, *, start: str) -> list[Row]:
    """Apply a level or a recipe, without any search."""
    (program,) = job.programs
    with _make() as env:
        names = [
            str(env.action_space.names[n]) for n in starting_sequences([start], env.action_space)[0]
        ]
    before = _spend()
    row = _row(job, program, names, 1, 0.0)
    if start.startswith("recipe") and "loaded" in row:
        row["loaded"] = _link(program, _own_compiler(), "--recipe", start.partition(" ")[2])
    return [{**row, "cpu_seconds": round(_spend() - before, 2)}]


def _compile(job: Job) -> list[Row]:
    """Compile with clang alone, without link-time optimisation."""
    (program,) = job.programs
    before = _spend()
    row = _row(job, program, [], 1, 0.0)
    row |= {"instructions": row["instructions_oz"], "object": row["object_oz"]}
    if "loaded" in row:
        row["loaded"] = _link(program, "clang-22", *_LINK, "-ffunction-sections", "-fdata-sections")
    return [{**row, "cpu_seconds": round(_spend() - before, 2)}]


def _link_with_policy(job: Job, *, plugin: bool, packed: bool) -> list[Row]:
    """Link with the shipped policy, which decides about linked programs alone."""
    (program,) = job.programs
    if plugin and (problem := explain_problem()):
        raise SystemExit(f"cannot load the size plug-in: {problem}")
    flags = ["--no-never-larger", *([] if packed else ["--old-loaders"])]
    before = _spend()
    with tempfile.TemporaryDirectory() as folder:
        shipped, path = policy_named("size"), Path(folder) / "policy.toml"
        plan = replace(shipped.plan, plugin=(PLUGIN,) if plugin else ())
        replace(shipped, path=path, plan=plan).write()
        loaded = _link(program, _own_compiler(), "--policy", str(path), *flags)
    costs = {"compilations": 1, "cpu_seconds": round(_spend() - before, 2)}
    row: Row = {"method": job.method, "program": program, "seed": job.seed, "passes": []}
    rivals = [(), *([(_PACKED,)] if packed else [])]
    base = min(_link(program, "clang-22", "-flto", *_LINK, *flags) for flags in rivals)
    return [{**row, "loaded": loaded, "loaded_oz": base, **costs}]


def read_judged() -> list[Row]:
    """Return a row for each program of the held-out packages that was judged with a policy."""
    data = json.loads(JUDGED.read_text(encoding="utf-8"))
    rows: list[Row] = []
    for program, methods in data["held-out"]["programs"].items():
        for name, title in _JUDGED.items():
            _, comma, packing = title.partition(",")
            rival = methods.get(f"rival{comma}{packing}", {})
            if (loaded := methods.get(title, {}).get("loaded")) and rival.get("loaded"):
                row: Row = {"method": name, "program": f"held-out/{program}", "seed": 0}
                rows.append({**row, "loaded": loaded, "loaded_oz": rival["loaded"]})
    return rows


def _own_compiler() -> str:
    return str(Path(sys.executable).with_name("compiler-gym-cc"))


def _learn(job: Job) -> list[Row]:
    """Train an agent of the zoo, and play one episode after ``clang -Oz`` on every program."""
    import torch  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)  # quickest for networks this small
    zoo, before = _agent(), _spend()
    options = zoo.Options(steps=job.size.training, points=1)
    _, model = zoo.fit(job.method, *zoo.LEARNERS[job.method], job.seed, options)
    training = round(_spend() - before, 2)
    rows: list[Row] = []
    for program in job.programs:
        before = _spend()
        _, passes = zoo.play(partial(zoo.choose_with, model), program)
        spent = _spend() - before
        start = zoo.compile_with_oz(program)
        rows.append(_row(job, program, passes, 1, spent, start, training_cpu_seconds=training))
    return rows


def _coreset(job: Job, *, refine: bool) -> list[Row]:
    """Try all sequences of a coreset, or search from them."""
    sequences, gains, training = _search_training(job.size, job.seed)
    kept = [sequences[number] for number in choose_coreset(gains, job.size.coreset)]
    rows: list[Row] = []
    for program in job.programs:
        before = _spend()
        if refine:
            starts = [" ".join(sequence) for sequence in kept]
            (result,) = run_search(
                partial(_make, "Passes"), [program], algorithm="local", jobs=1, seed=job.seed,
                starts=starts, steps=job.size.steps,
            )  # fmt: skip
            best, tried = result.action_names, result.sequences
        else:
            best, tried = kept[int(np.argmax(_play_all(program, kept)))], len(kept)
        spent = _spend() - before
        rows.append(_row(job, program, best, tried, spent, training_cpu_seconds=training))
    return rows


def _cluster(job: Job) -> list[Row]:
    """Apply to each program the sequence of the nearest cluster of training programs."""
    sequences, gains, training = _search_training(job.size, job.seed)
    before = _spend()
    points = np.array([_describe(program) for program in job.size.train])
    centres, members = find_clusters(points, job.size.coreset)
    chosen = [
        sequences[int(np.argmax(gains[members == number].mean(axis=0)))]
        for number in range(len(centres))
    ]
    training += round(_spend() - before, 2)
    rows: list[Row] = []
    for program in job.programs:
        before = _spend()
        near = int(np.argmin(np.linalg.norm(centres - _describe(program), axis=1)))
        spent = _spend() - before
        rows.append(_row(job, program, chosen[near], 1, spent, training_cpu_seconds=training))
    return rows


def _describe(program: str) -> "np.ndarray[Any, Any]":
    """Return the share of each kind of instruction in `program` before any pass."""
    with _make() as env:
        env.reset(benchmark=program)
        return np.asarray(env.observation["InstCountNorm"], dtype=float)


def find_clusters(
    points: "np.ndarray[Any, Any]", count: int
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """Return the centres of clusters by k-means, and the cluster of each point.

    The first centres are the first point and those farthest from all centres before them.

    >>> find_clusters(np.array([[0.0], [9.0], [1.0]]), 2)[1].tolist()
    [0, 1, 0]
    """
    centres = points[:1]
    while len(centres) < min(count, len(points)):
        distances = np.linalg.norm(points[:, None] - centres, axis=2).min(axis=1)
        centres = np.vstack([centres, points[np.argmax(distances)]])
    members = np.zeros(len(points), dtype=int)
    for _ in range(20):
        members = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
        centres = np.array([points[members == n].mean(axis=0) for n in range(len(centres))])
    return centres, members


@cache
def _search_training(
    size: Size, seed: int
) -> "tuple[list[tuple[str, ...]], np.ndarray[Any, Any], float]":
    """Return a good sequence for each training program, their gains and the processor time.

    Rows of gains are programs, columns sequences.
    """
    before = _spend()
    found = run_search(
        partial(_make, "Passes"), size.train, algorithm="local", jobs=1, seed=seed,
        starts=(), steps=size.steps,
    )  # fmt: skip
    sequences = [tuple(result.action_names) for result in found]
    gains = np.array([_play_all(program, sequences) for program in size.train])
    return sequences, gains, round(_spend() - before, 2)


def _call_tools(job: Job) -> list[Row]:
    """Let Compiler-R1's tool search, without a model that calls it."""
    (program,) = job.programs
    before = _spend()
    with CompilerR1(steps=job.size.steps, seed=job.seed) as tools:
        answer = tools.find_best_pass_sequence(f"benchmark://{program}")
        spent = _spend() - before
    with _make() as env:
        names = {name.lstrip("-"): name for name in map(str, env.action_space.names)}
    passes = [names[flag.lstrip("-")] for flag in answer["best_pass_sequence"]]
    return [_row(job, program, passes, None, spent)]


def _play_all(program: str, sequences: Iterable[Sequence[str]]) -> list[float]:
    """Return the reward of each sequence on `program`."""
    rewards: list[float] = []
    with _make("Passes") as env:
        for sequence in sequences:
            env.reset(benchmark=program)
            env.multistep([env.action_space[name] for name in sequence])
            rewards.append(float(env.episode_reward or 0.0))
    return rewards


def choose_coreset(gains: "np.ndarray[Any, Any]", count: int) -> list[int]:
    """Return the sequences (columns) that together are best for the programs (rows), greedily.

    >>> choose_coreset(np.array([[3, 0, 2], [0, 3, 2]]), 2)
    [2, 0]
    """
    chosen: list[int] = []
    best = np.full(len(gains), -np.inf)
    for _ in range(min(count, gains.shape[1])):
        totals = np.maximum(best[:, None], gains).mean(axis=0)
        totals[chosen] = -np.inf
        chosen.append(int(np.argmax(totals)))
        best = np.maximum(best, gains[:, chosen[-1]])
    return chosen


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the table."""

    work: Callable[[Job], list[Row]]
    description: str
    learns: bool = False
    """True if one job covers all programs."""
    is_random: bool = True
    """False if every seed gives the same result."""
    suites: Sequence[str] = _SMALL
    """The suites whose programs it can use."""

    def count_seeds(self, size: Size) -> int:
        """Return the number of times that it runs on each program."""
        return (size.trainings if self.learns else size.seeds) if self.is_random else 1


_JUDGED = {
    "policy": "policy",
    "policy-packed": "policy, packed",
    "plugin": "plug-in",
    "plugin-packed": "plug-in, packed",
}
"""Methods, and their names in the judgement of the plug-in."""
_KINDS = (
    "without the plug-in",
    "without the plug-in, relocations packed on both sides",
    "with the plug-in",
    "with the plug-in, relocations packed on both sides",
)
_PASSES = partial(_search, space="Passes", starts=())
_PORTFOLIO = partial(_search, algorithm="portfolio", space="PassesAndPipelines")
METHODS = {
    "clang": Method(_compile, "`clang -Oz`", is_random=False),
    "oz": Method(
        partial(_apply, start="-Oz"), "The action `-Oz`: `opt -Oz` with attributes",
        is_random=False, suites=_LARGE,
    ),
    "random": Method(partial(_PASSES, algorithm="random"), "Random search from -O0"),
    "greedy": Method(partial(_PASSES, algorithm="greedy"), "Greedy search from -O0"),
    "local": Method(
        partial(_PASSES, algorithm="local"), "Local (genetic) search from -O0", suites=_LARGE
    ),
    "portfolio": Method(
        _PORTFOLIO, "`compiler-gym search`: from -Oz and known sequences", suites=_LARGE
    ),
    "portfolio-300": Method(
        partial(_PORTFOLIO, seconds=300), "`compiler-gym search` for 300 s", suites=("large",)
    ),
    "compiler-r1": Method(_call_tools, "Compiler-R1's tool, called by a script"),
    "ppo": Method(_learn, "PPO, one episode after `clang -Oz`", learns=True),
    "maskable-ppo": Method(_learn, "MaskablePPO, one episode after `clang -Oz`", learns=True),
    "cluster": Method(_cluster, "Sequence of the nearest cluster, without a trial", learns=True),
    "coreset": Method(
        partial(_coreset, refine=False), "Coreset of sequences, best of all", learns=True
    ),
    "grace-like": Method(
        partial(_coreset, refine=True), "Local search from the coreset (GRACE-like)", learns=True
    ),
    "recipe": Method(partial(_apply, start="recipe small"), "Recipe `small`", is_random=False),
    **{
        name: Method(
            partial(_link_with_policy, plugin="plug-in" in title, packed="packed" in title),
            f"Policy `size`, {kind}", is_random=False, suites=_BUNDLED,
        )
        for (name, title), kind in zip(_JUDGED.items(), _KINDS, strict=True)
    },
}  # fmt: skip


def list_jobs(size: Size, methods: Sequence[str]) -> Iterator[Job]:
    """Yield the jobs of `methods`."""
    for name in methods:
        method = METHODS[name]
        programs = tuple(program for program in size.programs if _suite(program) in method.suites)
        groups = [programs] if method.learns else [(one,) for one in programs]
        for seed in range(method.count_seeds(size)):
            yield from (Job(name, seed, group, size) for group in groups)


def _work(job: Job) -> list[Row]:
    return METHODS[job.method].work(job)


def _finish(jobs: Iterable[Job], *, ray: bool) -> Iterator[tuple[Job, Any]]:
    if not ray:
        yield from ((job, _work(job)) for job in jobs)
        return
    from compiler_gym.tools.learn.integrations.ray import spread_tasks

    yield from spread_tasks(jobs, _work)


def _fetch_large(name: str) -> str:
    """Return a project as a single module of more than 60,000 instructions."""
    from scripts.projects.fetching import fetch, make_inputs
    from scripts.projects.table import chosen

    into = cache_path("projects")
    (project,) = chosen([name])
    make_inputs(into)  # of which preparing a project may need a file
    source, made = fetch(project, into), into / "large" / f"{name}.bc"
    made.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-Oz", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c"]
    with tempfile.TemporaryDirectory() as folder:
        parts: list[str] = []
        for file in sorted(source.glob(LARGE[name])):
            parts.append(f"{folder}/{file.stem}.bc")
            subprocess.run(["clang-22", *flags, str(file), "-o", parts[-1]], check=True)
        subprocess.run(["llvm-link-22", *parts, "-o", str(made)], check=True)
    return made.as_uri()


def _suite(program: str) -> str:
    return "large" if program.startswith("file:") else program.partition("/")[0]


def summarise(rows: Sequence[Row], value: str, base: str) -> tuple[float, float, float] | None:
    """Return the mean saving in per cent and its 95 % interval, a bootstrap over programs.

    The seeds of a program are averaged first, because they are not independent.
    """
    by_program: dict[str, list[float]] = {}
    for row in rows:
        if value in row and base in row:
            saving = 100 * (1 - row[value] / row[base])
            by_program.setdefault(row["program"], []).append(saving)
    if not by_program:
        return None
    return astuple(bootstrap_interval([statistics.fmean(row) for row in by_program.values()]))


_COLUMNS = (
    ("instructions", "instructions_opt_oz"),
    ("instructions", "instructions_oz"),
    ("object", "object_oz"),
    ("loaded", "loaded_oz"),
)


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return the table of each suite, as Markdown."""
    made: dict[str, str] = {}
    for suite in SUITES:
        lines = [
            "| method | instructions, `opt -Oz` | instructions, `clang -Oz` | object bytes | "
            "loaded bytes, `-Oz -flto` | compilations | CPU s | CPU s to train | programs | "
            "seeds |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        ]
        for name, method in METHODS.items():
            own = [row for row in rows if row["method"] == name and _suite(row["program"]) == suite]
            if own:
                cells = [_cell(summarise(own, *column)) for column in _COLUMNS]
                cells += [_middle(own, "compilations", 0), _middle(own, "cpu_seconds", 1)]
                cells += [_middle(own, "training_cpu_seconds", 0)]
                cells += [str(len({row[of] for row in own})) for of in ("program", "seed")]
                lines.append(f"| {method.description} | {' | '.join(cells)} |")
        if len(lines) > 2:
            made[suite] = "\n".join(lines)
    return made


def _cell(interval: tuple[float, float, float] | None) -> str:
    return "-" if interval is None else "{:.1f} % [{:.1f}, {:.1f}]".format(*interval)


def _middle(rows: Iterable[Row], name: str, digits: int) -> str:
    values = [row[name] for row in rows if name in row]
    return f"{statistics.median(values):,.{digits}f}" if values else "-"


def _write(rows: Sequence[Row], size: Size) -> None:
    """Write the data and fill the tables of the page.

    Stored rows of large modules stay unless `rows` has new ones.
    """
    from scripts.two_baselines import fill

    if not any(_suite(row["program"]) == "large" for row in rows):
        stored = json.loads(DATA.read_text(encoding="utf-8"))["rows"]
        rows = [*rows, *(row for row in stored if _suite(row["program"]) == "large")]
    ordered = sorted(
        rows, key=lambda row: ([*METHODS].index(row["method"]), row["program"], row["seed"])
    )
    lines = ",\n".join(json.dumps(row) for row in ordered)
    DATA.write_text(f'{{"size": {json.dumps(asdict(size))},\n"rows": [\n{lines}\n]}}\n')
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), tables(ordered)), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing in the run folder, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="few programs, seeds and passes")
    parser.add_argument(
        "--large",
        action="append",
        choices=[*LARGE],
        help="add searches of 60 and 300 s; can be repeated",
    )
    parser.add_argument("--method", action="append", choices=[*METHODS], help="can be repeated")
    parser.add_argument("--run", type=Path, help="the run folder")
    parser.add_argument("--ray", action="store_true", help="make the jobs tasks of a Ray cluster")
    parser.add_argument("--write", action="store_true", help="write the page and its data")
    options = parser.parse_args(arguments)
    size = _small() if options.small else _full()
    jobs = [*list_jobs(size, options.method or [*METHODS])]
    if options.large:
        modules = replace(size, programs=tuple(map(_fetch_large, options.large)), seeds=1)
        jobs += list_jobs(modules, options.method or [*METHODS])
    folder = options.run or Path("runs") / ("methods-small" if options.small else "methods")
    with RunFolder.open(folder, "evaluation", asdict(size)) as run:
        waiting = [job for job in jobs if run.find_result(job.key) is None]
        for number, (job, rows) in enumerate(_finish(waiting, ray=options.ray), start=1):
            if isinstance(rows, Exception):
                raise rows
            run.record(job.key, {"rows": rows})
            print(f"{number} of {len(waiting)}: {job.key}", file=sys.stderr, flush=True)
        found = [row for episode in run.episodes() for row in episode["result"]["rows"]]
    found += read_judged()
    for suite, table in tables(found).items():
        print(f"\n{suite}\n\n{table}")
    if options.write:
        _write(found, size)


if __name__ == "__main__":
    from benchmarks import methods

    methods.main()  # Ray's workers find the jobs and their work by this module's name
