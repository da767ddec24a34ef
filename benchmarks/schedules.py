# SPDX-License-Identifier: MIT
"""Schedules of MLIR-RL's evaluation programs by every method, beside numpy, PyTorch and XTC.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.schedules --seconds 200 [--xtc VENV]

`agents/schedule_policy.py` learns and searches; what each method found is then timed on the whole
shape, in turns with naive code, numpy and PyTorch, one thread each. Convolutions of ResNet-18 are
timed in both layouts, with the schedules of `CONVOLUTIONS`. XTC's own search runs in a virtual
environment that has `xtc-tools[mlir]`, with as many trials. A run may be ended at any time, and
stops by itself after `--seconds`; the same command continues. In the end the tables of
docs/results/mlir.md are written from what is kept in benchmarks/schedules.json.
"""

import argparse
import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

import compiler_gym
from benchmarks.measure import Figure, NotSetUpError
from benchmarks.store import _processor
from benchmarks.tables import write_table
from compiler_gym.files.paths import cache_path
from compiler_gym_mlir.programs.shapes import LAYERS

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("schedules.json")
PAGE = ROOT / "docs" / "results" / "mlir.md"
ROUNDS = 5
LONG = 1.0
"""Seconds from which on a run is timed twice only."""
METHODS = ("random", "greedy", "beam of 4", "learnt")
CONVOLUTIONS = {
    "conv2d_nchw": [
        ["im2col-operation", f"block-{block}", "vectorize-operation"]
        for block in ("8x32x4", "12x32x4", "8x32x8", "6x64x4", "16x16x4", "8x16x4")
    ],
    "conv2d_nhwc": [
        [f"block-{block}", "decompose-operation", "vectorize-operation"]
        for block in ("8x32x4", "8x32x8", "8x32x1", "6x64x4", "4x32x8", "4x64x4")
    ],
}
"""What is tried on every convolution: by a matrix product, and row by row."""
STEPS = {
    "naive": (),
    "`tile 8 32 4`": ("tile matmul0 8 32 4",),
    "and `vectorize`": ("tile matmul0 8 32 4", "vectorize matmul0"),
    "`tile 0 64 0` before": ("tile matmul0 0 64 0", "tile matmul0 8 32 4", "vectorize matmul0"),
    "`tile 0 32 0` before, and `promote 1 2`": (
        "tile matmul0 0 32 0", "tile matmul0 8 32 4", "promote matmul0 1 2", "vectorize matmul0",
    ),
}  # fmt: skip
"""The schedules of the guide, by what is new in each."""
SIZES = (128, 512, 1024)
XTC_STRATEGY = "tile_ppwrprp_vr"
"""The best of XTC's own strategies `tile_oo`, `tile_p1_v`, `tile_goto`, `tile_pprprp_vr` and it
on a product of 256x256x128, six trials each."""
HALIDE = {
    "add_256_14_14_88": (5816276, 589360), "add_256_42_42_168": (113866323, 23091579),
    "add_256_7_7_2048": (33561550, 7628250), "matmul_256_1536_1000": (546285746, 25944170),
    "matmul_256_256_128": (11315499, 747940), "matmul_256_256_512": (85445525, 3138070),
    "matmul_256_512_1024": (341262746, 9504560),
    "pooling_nchw_max_256_336_43_43_3": (361175262, 25947232),
    "pooling_nchw_max_256_64_114_114_3": (504330114, 29994175),
    "pooling_nchw_max_256_64_147_147_3": (831483502, 53244091),
    "relu_256_100": (16679, 6684), "relu_256_512": (98868, 31175),
    "relu_256_57_57_64": (67729800, 12420093),
}  # fmt: skip
"""Nanoseconds of the naive code, and of Halide's code by reinforcement learning, as MLIR-RL's
artifact publishes them (``data/execution_times_eval.json``, ``paper/halide_rl_execs.json``)."""


class TimeIsUpError(Exception):
    """What may be measured in one go is over."""


class Kept:
    """The committed figures: read once, written after each change."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self.data: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        self._end = time.monotonic() + seconds

    def get(self, section: str, name: str, measure: Callable[[], Any]) -> Any:
        """Return what is known, or measure it while there is time."""
        known = self.data.setdefault(section, {})
        if name not in known:
            if time.monotonic() > self._end:
                raise TimeIsUpError
            known[name] = measure()
            text = json.dumps(self.data, indent=1, sort_keys=True)
            self._path.write_text(text + "\n", encoding="utf-8")
        return known[name]


def measure() -> list[Figure]:
    """Return what is kept, as figures: measuring it takes an hour and `main`."""
    data = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    if "shapes" not in data:
        raise NotSetUpError("nothing is kept: run python -m benchmarks.schedules")
    return [
        Figure(f"{name}, by {method}", shape["naive"] / shape[method], "x naive")
        for name, shape in sorted(data["shapes"].items())
        for method in METHODS
        if shape.get(method)
    ]


def main(words: Sequence[str] | None = None) -> None:
    """Measure what is not kept yet, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]  # it has one
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--file", type=Path, default=FILE, help="where figures are kept")
    parser.add_argument("--runs", type=Path, help="what the agent measured (default: in the cache)")
    parser.add_argument("--xtc", type=Path, help="a virtual environment with xtc-tools[mlir]")
    parser.add_argument("--searched", action="store_true", help="search no more than is kept")
    parser.add_argument("--tables", action="store_true", help="measure nothing, write the tables")
    options = parser.parse_args(words)
    kept = Kept(options.file, options.seconds)
    if not options.tables:
        try:
            _measure_all(kept, options)
        except TimeIsUpError:
            print(f"time is up: the same command continues from {options.file}")
    for name, table in tables(kept.data).items():
        write_table(name, table, PAGE)


def _measure_all(kept: Kept, options: argparse.Namespace) -> None:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        raise SystemExit("numpy may use threads: set OPENBLAS_NUM_THREADS=1")
    kept.get("about", "machine", _processor)
    with compiler_gym.make("mlir-v0", action_space="ScriptLines") as env:
        for size in SIZES:
            kept.get("steps", str(size), lambda n=size: _steps(env, n))
    with compiler_gym.make("mlir-v0", action_space="Schedule") as env:
        for layer, (kernel, sizes) in LAYERS["resnet18"].items():
            if kernel == "conv2d_nchw":
                kept.get("resnet18", layer, lambda s=sizes: _convolution(env, s))
        if options.xtc:
            for name, (kernel, sizes) in LAYERS["mlir-rl"].items():
                if kernel == "matmul":
                    kept.get("xtc", name, lambda s=sizes: _xtc(options.xtc, s))
        _measure_shapes(kept, options, env)


def _measure_shapes(kept: Kept, options: argparse.Namespace, env: Any) -> None:
    agent = _agent()
    runs = options.runs or cache_path("schedules") / "schedule_policy.jsonl"
    runs.parent.mkdir(parents=True, exist_ok=True)
    known = agent.Kept(runs)
    settings = agent.Options()
    if not options.searched and len(kept.data.get("search", {})) < len(agent.TEST):
        try:
            agent.compare(agent.Runner(env, options.seconds), known, settings)
        except agent.TimeIsUpError:
            raise TimeIsUpError from None
    for name, program in agent.TEST.items():
        kept.get("search", name, lambda p=program: _searched(agent, known, settings, p, env))
    for name in LAYERS["mlir-rl"]:
        if name in agent.TEST:
            kept.get("shapes", name, lambda n=name: _shape(env, n, kept.data["search"][n]))
        else:
            kept.get("shapes", name, lambda n=name: {"naive": _naive(env, n)})


def _steps(env: Any, size: int) -> dict[str, float]:
    """Return the microseconds of the schedules of the guide, and numpy's."""
    uri = f"linalg-v0/matmul/{size}x{size}x{size}"
    env.reset(benchmark=uri)
    result = {"naive": round(env.observation["RuntimeNaive"], 1)}
    runs = {name: _played(env, uri, lines) for name, lines in STEPS.items() if lines}
    return result | in_turns({**runs, "numpy": _peers("matmul", (size,) * 3)["numpy"]})


def _agent() -> Any:
    path = ROOT / "agents" / "schedule_policy.py"
    spec = importlib.util.spec_from_file_location("schedule_policy", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["schedule_policy"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _searched(agent: Any, known: Any, settings: Any, program: str, env: Any) -> dict[str, Any]:
    """Return what each method found on `program` with each seed: microseconds, and names.

    Searches time a schedule once, some while the machine is busy: what they found is timed again.
    """
    names = env.action_space.names
    schedules: dict[str, list[str]] = {}
    for method in METHODS:
        for seed in range(1 if method in agent.ONCE else settings.seeds):
            key = ["test", settings.rounds, settings.evaluations, method, seed, program]
            try:
                _, actions = known.get(key, _missing)
            except LookupError:
                continue
            schedules[f"{method}, {seed}"] = [names[at] for at in actions]
    runs = {name: _ours(env, program, one) for name, one in schedules.items()}
    runs["naive"] = _ours(env, program, [])
    times = in_turns(runs)
    found: dict[str, Any] = {"naive": times.pop("naive")}
    for name, microseconds in times.items():
        found.setdefault(name.partition(",")[0], []).append([microseconds, schedules[name]])
    return found


def _missing() -> Any:
    raise LookupError


def _naive(env: Any, name: str) -> float:
    env.reset(benchmark=f"layers-v0/mlir-rl/{name}")
    return round(env.observation["RuntimeNaive"], 1)


def _shape(env: Any, name: str, found: dict[str, Any]) -> dict[str, float]:
    """Return microseconds on the whole shape: for each method, its seed in the middle."""
    uri = f"layers-v0/mlir-rl/{name}"
    result = {"naive": _naive(env, name)}
    runs: dict[str, Callable[[], float]] = {}
    for method in METHODS:
        ranked = sorted(found[method], key=lambda one: one[0] or math.inf)
        runs[method] = _ours(env, uri, ranked[len(ranked) // 2][1])
    kernel, sizes = LAYERS["mlir-rl"][name]
    runs |= _peers(kernel, sizes)
    return result | in_turns(runs)


def in_turns(runs: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Return the median of what each of `runs` takes, in microseconds; 0 where one fails."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(ROUNDS):
        for name, run in runs.items():
            known = times[name]
            if turn < 2 or (min(known) > 0 and median(known) < 1e6 * LONG):
                known.append(run())
    return {name: round(median(found), 1) for name, found in times.items()}


def _ours(env: Any, uri: str, actions: Sequence[str]) -> Callable[[], float]:
    return _played(env, uri, [env.action_space[name] for name in actions if name != "stop"])


def _played(env: Any, uri: str, actions: Sequence[Any]) -> Callable[[], float]:
    def run() -> float:
        env.reset(benchmark=uri)
        (times,), _, _, cut, _ = env.multistep(actions, ["Runtime"], timeout=120)
        return 0.0 if cut else float(min(times))

    return run


def _peers(kernel: str, sizes: tuple[int, ...], threads: int = 1) -> dict[str, Callable[[], float]]:
    """Return numpy's and PyTorch's operation on random inputs, where they have it."""
    torch: Any = import_module("torch")
    functional: Any = import_module("torch.nn.functional")

    draw = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return draw.standard_normal(shape, np.float32)

    numpy: Callable[[], object] | None = None
    if kernel == "matmul":
        m, n, k = sizes
        a, b, out = array(m, k), array(k, n), array(m, n)
        ta, tb, tout = (torch.from_numpy(one) for one in (a, b, out.copy()))
        numpy, theirs = lambda: np.matmul(a, b, out=out), lambda: torch.matmul(ta, tb, out=tout)
    elif kernel in ("add", "relu"):
        a, b, out = array(*sizes), array(*sizes), array(*sizes)
        ta, tb, tout = (torch.from_numpy(one) for one in (a, b, out.copy()))
        if kernel == "add":
            numpy, theirs = lambda: np.add(a, b, out=out), lambda: torch.add(ta, tb, out=tout)
        else:
            zero = np.float32(0)
            numpy = lambda: np.maximum(a, zero, out=out)  # noqa: E731 - as the other three
            theirs = lambda: torch.clamp_min(ta, 0, out=tout)  # noqa: E731
    elif kernel == "maxpool":
        n, c, h, w, k, stride = sizes
        image = torch.from_numpy(array(n, c, h, w))
        theirs = lambda: functional.max_pool2d(image, k, stride)  # noqa: E731
    else:
        n, c, h, w, f, k, stride = sizes
        image, filters = torch.from_numpy(array(n, c, h, w)), torch.from_numpy(array(f, c, k, k))
        if kernel == "conv2d_nhwc":
            last = torch.channels_last
            image, filters = image.to(memory_format=last), filters.to(memory_format=last)
        theirs = lambda: functional.conv2d(image, filters, stride=stride)  # noqa: E731

    def with_torch() -> float:
        torch.set_num_threads(threads)
        with torch.inference_mode():
            return _microseconds(theirs)

    runs: dict[str, Callable[[], float]] = {"PyTorch": with_torch}
    if numpy is not None:
        runs["numpy"] = lambda: _microseconds(numpy)
    return runs


def _microseconds(work: Callable[[], object]) -> float:
    work()
    began = time.perf_counter()
    work()
    once = time.perf_counter() - began
    repeats = max(1, int(2e-3 / max(once, 1e-9)))
    began = time.perf_counter()
    for _ in range(repeats):
        work()
    return 1e6 * (time.perf_counter() - began) / repeats


def _convolution(env: Any, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return the microseconds of a convolution in both layouts, ours and oneDNN's by PyTorch."""
    n, c, h, w, f, k, stride = sizes
    result: dict[str, Any] = {}
    shapes = {"conv2d_nchw": sizes, "conv2d_nhwc": (n, h, w, c, f, k, stride)}
    for kernel, shape in shapes.items():
        uri = f"linalg-v0/{kernel}/{'x'.join(map(str, shape))}"
        tried = [(_ours(env, uri, one)() or math.inf, one) for one in CONVOLUTIONS[kernel]]
        best = min(tried)[1]
        one = _peers(kernel, sizes)["PyTorch"]
        two = _peers(kernel, sizes, threads=2)["PyTorch"]
        env.reset(benchmark=uri)
        found = {"naive": round(env.observation["RuntimeNaive"], 1), "schedule": best}
        runs = {"ours": _ours(env, uri, best), "PyTorch": one, "PyTorch, 2 threads": two}
        result[kernel] = found | in_turns(runs)
    return result


def _xtc(venv: Path, sizes: tuple[int, ...]) -> dict[str, float]:
    """Return the microseconds of the best of XTC's trials of a product, and PyTorch's before."""
    result = {"PyTorch": in_turns(_peers("matmul", sizes))["PyTorch"]}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "trials.csv"
        command = [
            str(venv / "bin/loop-explore"), "--operator", "matmul", "--dims", *map(str, sizes),
            "--backends", "mlir", "--trials", "20", "--threads", "1", "--search", "random",
            "--strategy", XTC_STRATEGY, "--quiet", "--output", str(output),
        ]  # fmt: skip
        path = f"{venv / 'bin'}:{os.environ['PATH']}"
        subprocess.run(
            command, cwd=folder, env={**os.environ, "PATH": path}, timeout=600, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return result | {"XTC": _fastest(output)}


def _fastest(output: Path) -> float:
    """Return the least microseconds in a table of XTC's; 0 where it has none."""
    if not output.exists():
        return 0.0
    with output.open(encoding="utf-8") as file:
        found = [float(row[-3]) for row in list(csv.reader(file))[1:]]
    return round(1e6 * min((one for one in found if one > 0), default=0.0), 1)


def tables(data: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page by their marks."""
    return {
        "steps": _steps_table(data),
        "shapes": _shapes_table(data),
        "seeds": _seeds_table(data),
        "convolutions": _convolutions_table(data),
        "measured": f"One thread of {data.get('about', {}).get('machine', 'a machine')}.",
    }


def _steps_table(data: dict[str, Any]) -> str:
    rows = [
        f"| schedule | {' | '.join(f'{size}³' for size in SIZES)} |",
        "|---|" + "--:|" * len(SIZES),
    ]
    found = data.get("steps", {})
    for name in (*STEPS, "numpy"):
        cells = [
            f"{2 * size**3 / found[str(size)][name] / 1e3:.3g}"
            for size in SIZES
            if str(size) in found
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _shapes_table(data: dict[str, Any]) -> str:
    columns = (*METHODS, "numpy", "PyTorch")
    rows = [
        f"| program | naive | {' | '.join(columns)} | XTC | Halide RL |",
        "|---|--:|" + "--:|" * (len(columns) + 2),
    ]
    shapes = data.get("shapes", {})
    for name in LAYERS["mlir-rl"]:
        if name not in shapes:
            continue
        shape = shapes[name]
        cells = [_times(shape["naive"], shape.get(column)) for column in columns]
        xtc = data.get("xtc", {}).get(name, {})
        # XTC was timed beside PyTorch, and PyTorch beside the rest.
        same = xtc["XTC"] * shape["PyTorch"] / xtc["PyTorch"] if xtc else 0
        published = HALIDE.get(name)
        cells += [
            _times(shape["naive"], same),
            f"{published[0] / published[1]:.1f}" if published else "-",
        ]
        rows.append(f"| `{name}` | {_duration(shape['naive'])} | {' | '.join(cells)} |")
    means = [
        f"{geometric_mean(found):.1f}"
        if (found := [one["naive"] / one[column] for one in shapes.values() if one.get(column)])
        else "-"
        for column in columns
    ]
    rows.append(f"| geometric mean | | {' | '.join(means)} | | |")
    return "\n".join(rows)


def _seeds_table(data: dict[str, Any]) -> str:
    found = data.get("search", {})
    groups = [[name for name in found if name.startswith(("matmul", "conv"))], list(found)]
    heads = f"{len(groups[0])} products and convolutions | all {len(groups[1])}"
    rows = [f"| method | {heads} | seeds |", "|---|--:|--:|--:|"]
    if not found:
        return "\n".join(rows)
    speeds = {m: [_by_seed(found, group, m) for group in groups] for m in METHODS}
    for method, (few, every) in speeds.items():
        rows.append(f"| {method} | {_with_interval(few)} | {_with_interval(every)} | {len(few)} |")
    ratios = [
        [a / b for a, b in zip(ours, theirs, strict=True)]
        for ours, theirs in zip(speeds["learnt"], speeds["random"], strict=True)
    ]
    cells = " | ".join(map(_with_interval, ratios))
    rows.append(f"| learnt over random, seed by seed | {cells} | {len(ratios[0])} |")
    return "\n".join(rows)


def _by_seed(found: dict[str, Any], names: Sequence[str], method: str) -> list[float]:
    """Return for each seed how many times as fast as naive `method` makes programs."""
    seeds = range(len(next(iter(found.values()))[method]))
    return [
        geometric_mean(
            found[name]["naive"] / (found[name][method][seed][0] or math.inf) or 1.0
            for name in names
        )
        for seed in seeds
    ]


def _with_interval(values: Sequence[float]) -> str:
    """Return the geometric mean, and the 95 % interval of it by the logarithms' spread."""
    centre = geometric_mean(values)
    if len(values) < 2:
        return f"{centre:.2f}"
    half = math.exp(_agent().interval([math.log(one) for one in values]))
    return f"{centre:.2f} ({centre / half:.2f} to {centre * half:.2f})"


def _convolutions_table(data: dict[str, Any]) -> str:
    rows = [
        "| layer | layout | naive | ours | oneDNN | times as fast | oneDNN, 2 threads | block |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    ratios: dict[str, list[float]] = {}
    for layer, layouts in data.get("resnet18", {}).items():
        for kernel, one in layouts.items():
            block = next(word for word in one["schedule"] if word.startswith("block"))
            ratio = one["PyTorch"] / one["ours"]
            ratios.setdefault(kernel[-4:], []).append(ratio)
            rows.append(
                f"| `{layer}` | {kernel[-4:]} | {_duration(one['naive'])} | "
                f"{_duration(one['ours'])} | {_duration(one['PyTorch'])} | {ratio:.2f} | "
                f"{_duration(one['PyTorch, 2 threads'])} | `{block}` |"
            )
        theirs, ours = (min(one[who] for one in layouts.values()) for who in ("PyTorch", "ours"))
        ratios.setdefault("each its better", []).append(theirs / ours)
    for layout, values in ratios.items():
        rows.append(f"| geometric mean | {layout} | | | | {geometric_mean(values):.2f} | | |")
    return "\n".join(rows)


def _times(naive: float, microseconds: float | None) -> str:
    return f"{naive / microseconds:.1f}" if microseconds else "-"


def _duration(microseconds: float) -> str:
    if microseconds < 1e3:
        return f"{microseconds:.3g} µs"
    return f"{microseconds / 1e3:.3g} ms" if microseconds < 1e6 else f"{microseconds / 1e6:.3g} s"


if __name__ == "__main__":
    main()
