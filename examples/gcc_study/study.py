# SPDX-License-Identifier: MIT
# Nevergrad has no types, and Matplotlib types its arguments partially:
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
"""Which options make a program smaller than -Os does? Three searches, one budget, one table.

Random search, Nevergrad's discrete (1+1) and Optuna's TPE choose the level, the flags
and the parameters of a GCC for every program of cbench-v1, numbers among them. Each may
compile a program a number of times; a compilation that fails counts too. All start
from -Os.

    python examples/gcc_study/study.py --budget 100 --output study

writes ``study/results.json`` and ``study/study.png``, and prints the table. A search that
is over is kept in ``study/runs``: the same command continues where it was interrupted, and
``--table`` draws what there is without searching. It needs the extras ``nevergrad``,
``optuna`` and ``plot``.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import compiler_gym
from compiler_gym_gcc import GccEnv, GccFlagIntOption, GccParamIntOption, Option

PROGRAMS = (
    *("crc32", "sha", "stringsearch", "patricia", "bitcount", "qsort", "dijkstra", "blowfish"),
    *("rijndael", "adpcm", "stringsearch2", "susan", "tiffdither", "tiff2rgba", "tiffmedian"),
    *("tiff2bw", "ispell", "lame", "gsm", "jpeg-d", "jpeg-c", "bzip2", "ghostscript"),
)
"""All of cbench-v1, those that compile fast first."""
COMPILE_SECONDS = 60.0
FARTHEST = 16
"""Numbers are tried up to this many times the compiler's own."""
CHANGED = 0.06
"""How many of the options a random configuration sets."""
STARTS = 15
"""How many random configurations TPE sees before it has a model."""

Configuration = dict[str, int]
"""The number of the chosen setting by the name of the option; the others are left alone."""
Cost = Callable[[Configuration], float]


@dataclass
class Run:
    """One search on one program."""

    program: str
    algorithm: str
    costs: list[float] = field(default_factory=list[float])
    """The cost of every compilation in order; infinite where it failed."""
    best: list[float] = field(default_factory=list[float])
    """The lowest cost so far, after every compilation."""
    command_line: str = ""
    """What made the smallest program."""
    seconds: float = 0.0
    works: bool = False
    """Whether the smallest program does on its inputs what a -O0 build does."""

    def add(self, cost: float, command_line: str) -> None:
        """Note one more compilation."""
        if not self.best or cost < self.best[-1]:
            self.command_line = command_line
        self.costs.append(cost)
        self.best.append(min(self.costs))


class Task:
    """A program to be made small, and the options to do it with."""

    def __init__(self, env: GccEnv, program: str, cost: str) -> None:
        self.env = env
        self.uri = f"benchmark://cbench-v1/{program}"
        self.cost = cost
        options = env.gcc_spec.options
        self.options = {option.name: option for option in options}
        """The level, the flags and the parameters, by name."""
        self.values = {option.name: values_of(option) for option in options}
        """The settings of each that are tried, -1 among them: it is left to the compiler."""
        self.numbers = {option.name: number for number, option in enumerate(options)}

    @property
    def start(self) -> Configuration:
        """Where every search begins: -Os."""
        return {"-O": self.options["-O"].index("-Os")}

    def baseline(self, level: str) -> float:
        """Return the cost at a level, such as ``os``."""
        self.env.reset(benchmark=self.uri)
        return float(self.env.observation[f"{self.cost}_{level}"])

    def measure(self, configuration: Configuration) -> tuple[float, str]:
        """Return the cost of a configuration, infinite if it fails, and its command line."""
        action = [0] * len(self.env.gcc_spec.options)
        for name, index in configuration.items():
            action[self.numbers[name]] = index + 1
        self.env.reset(benchmark=self.uri)
        self.env.timeout = COMPILE_SECONDS
        cost, _, _, truncated, _ = self.env.step(action, observation_spaces=self.cost)
        return (math.inf if truncated else float(cost)), self.env.commandline()

    def works(self, command_line: str) -> bool:
        """Return whether the program of a command line does what it should."""
        self.env.reset(benchmark=self.uri)
        self.env.multistep(self.env.commandline_to_actions(command_line))
        result = self.env.validate()
        return result.benchmark_semantics_validated and result.okay()

    def sample(self, generator: random.Random) -> Configuration:
        """Return a random configuration: a level, and a few of the other options."""
        chosen = {"-O": generator.choice((self.start["-O"], *range(len(self.options["-O"]))))}
        for name, values in self.values.items():
            if name != "-O" and len(values) > 1 and generator.random() < CHANGED:
                chosen[name] = generator.choice([value for value in values if value >= 0])
        return chosen


def values_of(option: Option) -> list[int]:
    """Return the settings of an option that are tried; numbers in order, -1 for the default.

    Numbers far beyond the compiler's own seldom change a program but for making its
    compilation take minutes.
    """
    if not isinstance(option, (GccFlagIntOption, GccParamIntOption)):
        return [-1, *option.candidates()]
    most = FARTHEST * max(option.low + option.start, 1)
    near = [at for at in option.candidates() if option.low + at <= most or at <= 1]
    return [-1 if at == option.start else at for at in near]


def random_search(task: Task, cost: Cost, budget: int, seed: int) -> None:
    """Measure random configurations."""
    generator = random.Random(seed)
    cost(task.start)
    for _ in range(budget - 1):
        cost(task.sample(generator))


def nevergrad_search(task: Task, cost: Cost, budget: int, seed: int) -> None:
    """Change what is best so far in a few places, and keep what is no worse."""
    import nevergrad as ng

    sizes = {len(values) for values in task.values.values()}
    names = {n: [name for name, v in task.values.items() if len(v) == n] for n in sizes}
    space = ng.p.Dict(
        **{
            str(n): ng.p.TransitionChoice(range(n), repetitions=len(same))
            for n, same in names.items()
        }
    )
    space.value = {
        str(n): tuple(task.values[name].index(task.start.get(name, -1)) for name in same)
        for n, same in names.items()
    }
    space.random_state.seed(seed)
    optimizer = ng.optimizers.registry["DiscreteLenglerOnePlusOne"](space, budget=budget)
    for _ in range(budget):
        candidate = optimizer.ask()
        chosen = {
            name: task.values[name][at]
            for n, same in names.items()
            for name, at in zip(same, candidate.value[str(n)], strict=True)
        }
        found = cost({name: index for name, index in chosen.items() if index >= 0})
        optimizer.tell(candidate, found if math.isfinite(found) else 1e12)


def optuna_search(task: Task, cost: Cost, budget: int, seed: int) -> None:
    """Model which settings good configurations have, with TPE."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    generator = random.Random(seed)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(STARTS, budget))
    study = optuna.create_study(sampler=sampler)
    starts = [task.start, *(task.sample(generator) for _ in range(min(STARTS, budget) - 1))]
    for start in starts:
        study.enqueue_trial({n: v.index(start.get(n, -1)) for n, v in task.values.items()})

    def objective(trial: Any) -> float:
        chosen = {name: values[_suggest(trial, task, name)] for name, values in task.values.items()}
        found = cost({name: index for name, index in chosen.items() if index >= 0})
        return found if math.isfinite(found) else 1e12

    study.optimize(objective, n_trials=budget)


def _suggest(trial: Any, task: Task, name: str) -> int:
    """Return where in the values of an option to look: numbers have an order, words have none."""
    count = len(task.values[name])
    if isinstance(task.options[name], (GccFlagIntOption, GccParamIntOption)):
        return trial.suggest_int(name, 0, count - 1)
    return trial.suggest_categorical(name, range(count))


ALGORITHMS = {"random": random_search, "nevergrad": nevergrad_search, "optuna": optuna_search}


def study(options: argparse.Namespace) -> None:
    """Run every search on every program, but for those that are kept."""
    runs = options.output / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    env = compiler_gym.make("gcc-v0", gcc_bin=options.gcc_bin, action_space="Choices")
    assert isinstance(env, GccEnv)
    with env:
        asked = {key: getattr(options, key) for key in ("cost", "budget", "seed")}
        asked["compiler"] = env.compiler_version
        for program in options.programs:
            for name in options.algorithms:
                path = runs / f"{program}-{name}.json"
                if _kept(path, asked) is None:
                    _search(env, program, name, asked, path)


def _search(env: GccEnv, program: str, name: str, asked: dict[str, Any], path: Path) -> None:
    task = Task(env, program, asked["cost"])
    base = {level: task.baseline(level) for level in ("os", "o3")}
    run = _run(task, program, name, asked["budget"], asked["seed"])
    text = json.dumps({"asked": asked, "base": base, "run": asdict(run)})
    partial = path.with_suffix(".partial")
    partial.write_text(text.replace("Infinity", "null") + "\n")  # which is no JSON
    partial.rename(path)
    print(_line(run, base), flush=True)


def _kept(path: Path, asked: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a search that is over has found; None if it has to be run."""
    if not path.exists():
        return None
    kept = json.loads(path.read_text())
    if kept["asked"] != asked:
        raise SystemExit(f"{path} answers {kept['asked']}, not {asked}: name another --output")
    return kept


def collect(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of the programs that every search is through with."""
    paths = {
        program: [options.output / "runs" / f"{program}-{name}.json" for name in options.algorithms]
        for program in options.programs
    }
    done = {
        program: [json.loads(path.read_text()) for path in own]
        for program, own in paths.items()
        if all(path.exists() for path in own)
    }
    if not done:
        raise SystemExit(f"no program is done in {options.output}: run it without --table first")
    kept = [one for own in done.values() for one in own]
    return {
        **kept[0]["asked"],
        "baselines": {program: own[0]["base"] for program, own in done.items()},
        "runs": [one["run"] for one in kept],
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as a table in Markdown."""
    runs, baselines = figures["runs"], figures["baselines"]
    names = list(dict.fromkeys(run["algorithm"] for run in runs))
    found = {(run["program"], run["algorithm"]): run["best"][-1] for run in runs}
    lines = [f"| program | -O3 | -Os | {' | '.join(names)} |"]
    lines.append("| --- |" + " ---: |" * (2 + len(names)))
    for program, base in baselines.items():
        cells = [f"{base['o3']:.0f}", f"{base['os']:.0f}"]
        cells += [f"{found[program, name]:.0f}" for name in names]
        lines.append(f"| {program} | {' | '.join(cells)} |")
    for level, text in (("os", "-Os"), ("o3", "-O3")):
        ratios = [
            f"{_mean(found[p, n] / baselines[p][level] for p in baselines):.3f}" for n in names
        ]
        lines.append(f"| geometric mean against {text} | | | {' | '.join(ratios)} |")
    failed = [
        sum(run["costs"].count(None) for run in runs if run["algorithm"] == name) for name in names
    ]
    count = figures["budget"] * len(baselines)
    lines.append(f"| failed, of {count} compilations | | | {' | '.join(map(str, failed))} |")
    broken = [run for run in runs if not run["works"]]
    wrong = "; ".join(f"{run['program']} by {run['algorithm']}" for run in broken) or "none"
    return "\n".join([*lines, "", f"Programs that do something else than at -O0: {wrong}."])


def plot(figures: dict[str, Any], path: Path) -> None:
    """Draw how the searches go: the size against -Os, over compilations."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name in dict.fromkeys(run["algorithm"] for run in figures["runs"]):
        runs = [run for run in figures["runs"] if run["algorithm"] == name]
        means = [
            _mean(run["best"][i] / figures["baselines"][run["program"]]["os"] for run in runs)
            for i in range(figures["budget"])
        ]
        axes.plot(range(1, len(means) + 1), means, label=name)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle="--", label="-Os")
    axes.set_xlabel("compilations")
    axes.set_ylabel(f"best {figures['cost']} so far / -Os")
    axes.set_title(f"{len(figures['baselines'])} programs, {figures['compiler'].split(' ')[0]}")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options on the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--budget", type=int, default=100, help="compilations for each search")
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS))
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS), choices=ALGORITHMS)
    parser.add_argument("--gcc-bin", default="gcc-12")
    parser.add_argument("--cost", default="obj_size", choices=("obj_size", "text_size", "asm_size"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("study"))
    parser.add_argument("--table", action="store_true", help="search nothing, show what there is")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, keep its figures and print its table."""
    options = parse(arguments)
    if not options.table:
        study(options)
    figures = collect(options)
    (options.output / "results.json").write_text(json.dumps(figures, indent=1) + "\n")
    plot(figures, options.output / "study.png")
    print(table(figures))


def _run(task: Task, program: str, algorithm: str, budget: int, seed: int) -> Run:
    run = Run(program, algorithm)
    started = time.monotonic()

    def cost(configuration: Configuration) -> float:
        found, command_line = task.measure(configuration)
        run.add(found, command_line)
        return found

    ALGORITHMS[algorithm](task, cost, budget, seed)
    run.seconds = time.monotonic() - started
    run.works = task.works(run.command_line)
    return run


def _line(run: Run, base: dict[str, float]) -> str:
    failed = sum(1 for cost in run.costs if math.isinf(cost))
    return (
        f"{run.program:14} {run.algorithm:10} {run.best[-1]:8.0f} bytes, "
        f"{run.best[-1] / base['os']:.3f} of -Os, {failed} failed, {run.seconds:.0f} s, "
        f"{'works' if run.works else 'DOES SOMETHING ELSE'}"
    )


def _mean(values: Iterator[float] | Any) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


if __name__ == "__main__":
    main()
