# SPDX-License-Identifier: MIT
"""Tables and plots of what run folders hold; nothing is measured here.

A program's score is what clang -Oz leaves of it over what is left, so more than 1 is
better than -Oz. Scores are averaged over programs by the geometric mean, and bands are
95 % confidence intervals of that mean over seeds, by Student's t.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}
"""The 97.5 % quantile of Student's t by degrees of freedom."""

Results = dict[str, dict[str, dict[str, Any]]]
"""What was recorded, by method and by program."""


def results(folder: Path) -> Results:
    """Return what a run folder holds of the programs that are held out."""
    found: Results = {}
    for line in (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        method, _, program = item["key"].rpartition(" ")
        if "baseline" in item["result"]:
            found.setdefault(method, {})[program] = item["result"]
    return found


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of logarithms as a factor, and its confidence interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return math.exp(mean), math.nan, math.nan
    width = STUDENT[len(values) - 1] * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return math.exp(mean), math.exp(mean - width), math.exp(mean + width)


def score(programs: dict[str, dict[str, Any]], compilations: int | None = None) -> float:
    """Return the mean logarithm of the score: of the end, or of the best after so many."""
    logs: list[float] = []
    for item in programs.values():
        left = item["last"] if compilations is None else _best(item, compilations)
        logs.append(math.log(item["baseline"] / left))
    return float(np.mean(logs))


def _best(item: dict[str, Any], compilations: int) -> int:
    best = item["start"]
    for number, count in item["best"]:
        if number <= compilations:
            best = count
    return best


def of(found: Results, kind: str) -> list[dict[str, dict[str, Any]]]:
    """Return the programs of every seed of a method, such as ``ppo``, that has been through."""
    names = sorted(name for name in found if name.rpartition(" ")[0] == kind)
    most = max(map(len, found.values()), default=0)
    return [found[name] for name in names if len(found[name]) == most]


def ppo_table(folder: Path) -> str:
    """Return the scores after some numbers of compilations, as Markdown."""
    found = results(folder)
    most = max(item["compilations"] for item in of(found, "random")[0].values())
    lines = ["| compilations | random search | PPO |", "| ---: | --- | --- |"]
    for number in [n for n in (1, 3, 10, 30, 100, 300, 1000) if n <= most]:
        cells = [
            _text(interval([score(seed, number) for seed in of(found, kind)]))
            for kind in ("random", "ppo")
        ]
        lines.append(f"| {number} | {cells[0]} | {cells[1]} |")
    ahead = _ahead(found, most)
    lines += [
        "",
        f"After {most}, PPO is ahead on {sum(a > 0 for a in ahead)} programs and behind on "
        f"{sum(a < 0 for a in ahead)}.",
    ]
    return "\n".join(lines)


def _ahead(found: Results, compilations: int) -> list[float]:
    """Return by how much PPO's best is smaller than random search's, by program."""
    pairs = list(zip(of(found, "random"), of(found, "ppo"), strict=False))  # of what has ended
    return [
        sum(
            math.log(_best(drawn[program], compilations) / _best(learnt[program], compilations))
            for drawn, learnt in pairs
        )
        for program in pairs[0][0]
    ]


def clone_table(folder: Path) -> str:
    """Return the scores of what one episode without a search gives, as Markdown."""
    found = results(folder)
    clones = of(found, "cloned")
    lines = ["| one shot | -Oz / left, geometric mean | better | worse |"]
    lines.append("| --- | --- | ---: | ---: |")
    rows: list[tuple[str, list[dict[str, Any]]]] = [
        (f"cloned policy, {len(clones)} seeds", clones),
    ]
    rows += [(name, [found[name]]) for name in found if not name.startswith("cloned ")]
    for name, seeds in rows:
        every = [item for seed in seeds for item in seed.values()]
        better = sum(item["last"] < item["baseline"] for item in every) / len(seeds)
        worse = sum(item["last"] > item["baseline"] for item in every) / len(seeds)
        text = _text(interval([score(seed) for seed in seeds]))
        lines.append(f"| {name} | {text} | {better:.3g} | {worse:.3g} |")
    return "\n".join(lines)


def programs_table(folder: Path) -> str:
    """Return the counts of every program, as Markdown."""
    found = results(folder)
    clones = of(found, "cloned")
    lines = ["| program | -O0 | clang -Oz | opt -Oz | cloned policies |"]
    lines.append("| --- | ---: | ---: | ---: | --- |")
    for program, item in clones[0].items():
        left = ", ".join(str(seed[program]["last"]) for seed in clones)
        opt = found.get("opt -Oz", {}).get(program, {}).get("last", "")
        name = program.rpartition("/")[2]
        lines.append(f"| {name} | {item['start']} | {item['baseline']} | {opt} | {left} |")
    return "\n".join(lines)


def plot_ppo(folder: Path, image: Path) -> None:
    """Draw the best so far over compilations, and one shot over what was learnt from."""
    figure, (left, right) = _axes(2, (8.6, 4.2))
    found = results(folder)
    most = max(item["compilations"] for item in of(found, "random")[0].values())
    for kind, text in (("ppo", "PPO"), ("random", "random search")):
        curves = [[score(seed, n + 1) for n in range(most)] for seed in of(found, kind)]
        _band(left, range(1, most + 1), curves, f"{text}")
    left.set_xscale("log")
    left.set_xlabel("compilations of each program")
    left.set_ylabel("clang -Oz / best so far, instructions")
    shots: dict[int, list[float]] = {}
    for name in found:
        if name.startswith("one shot "):
            shots.setdefault(int(name.rpartition(" ")[2]), []).append(score(found[name]))
    seeds = max(map(len, shots.values()))
    steps = sorted(number for number, scores in shots.items() if len(scores) == seeds)
    curves = [list(seed) for seed in zip(*(shots[s] for s in steps), strict=True)]
    _band(right, steps, curves, "PPO, one episode")
    for number in (30, most):
        level = math.exp(np.mean([score(seed, number) for seed in of(found, "random")]))
        right.axhline(level, color="C1", linestyle=":", linewidth=1)
        right.annotate(
            f"random search, best of {number}", (steps[0], level), (0, 3),
            textcoords="offset points", fontsize=9, va="bottom",
        )  # fmt: skip
    right.set_ylim(0.54, 1.04)
    right.ticklabel_format(axis="x", style="sci", scilimits=(3, 3), useMathText=True)
    right.set_xlabel("compilations while learning")
    right.set_ylabel("clang -Oz / what is left, instructions")
    for axes, place in ((left, "lower right"), (right, "lower right")):
        axes.axhline(1.0, color="black", linestyle="--", linewidth=0.8, label="clang -Oz")
        axes.legend(fontsize=9, loc=place)
        axes.grid(alpha=0.25)
    count = len(of(found, "ppo")[0])
    figure.suptitle(
        f"{count} programs that were not learnt on; bands: 95 % over seeds", fontsize=11
    )
    _save(figure, image)


def plot_clone(folder: Path, image: Path) -> None:
    """Draw what one episode of the cloned policies gives on every program."""
    figure, axes = _axes(1, (8.2, 4.2))
    found = results(folder)
    clones = of(found, "cloned")
    programs = list(clones[0])
    scores = np.array(
        [[seed[p]["baseline"] / seed[p]["last"] for p in programs] for seed in clones]
    )
    order = np.argsort(-np.exp(np.log(scores).mean(0)))
    names = [programs[int(i)].rpartition("/")[2] for i in order]
    axes.bar(names, 100 * (np.exp(np.log(scores).mean(0))[order] - 1), color="C0", alpha=0.6)
    for row in scores:
        axes.plot(names, 100 * (row[order] - 1), "k.", markersize=4)
    mean, low, high = interval([score(seed) for seed in clones])
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.axhline(100 * (mean - 1), color="C1", label=f"geometric mean {_text((mean, low, high))}")
    axes.set_ylabel("fewer instructions than clang -Oz, %")
    axes.set_title("One episode of the cloned policy, without a search; dots are seeds")
    axes.tick_params(axis="x", rotation=90)
    axes.legend(fontsize=9)
    axes.grid(axis="y", alpha=0.25)
    _save(figure, image)


def real_table(folder: Path) -> str:
    """Return what was learnt from each source, by what it is judged on, as Markdown."""
    found = results(folder)
    lines = ["| learnt on | packages held out | cbench-v1 |", "| --- | --- | --- |"]
    last = max(int(name.rpartition(" ")[2]) for name in found if " after " in name)
    for title, methods in (
        ("nothing: random actions", [n for n in found if n.startswith("random ")]),
        ("generated code", _after(found, "generated", last)),
        ("real code", _after(found, "real", last)),
    ):
        cells = [_text(interval([score(part(found[name], real)) for name in methods]))
                 for real in (True, False) if part(found[methods[0]], real)]  # fmt: skip
        lines.append(f"| {title} | {' | '.join(cells)} |")
    for real, where in ((True, "packages held out"), (False, "cbench-v1")):
        pairs = zip(_after(found, "real", last), _after(found, "generated", last), strict=True)
        gains = [score(part(found[a], real)) - score(part(found[b], real))
                 for a, b in pairs if part(found[a], real)]  # fmt: skip
        if gains:
            lines.append(f"\nReal over generated, {where}: {_text(interval(gains))}.")
    return "\n".join(lines)


def part(programs: dict[str, dict[str, Any]], is_real: bool) -> dict[str, dict[str, Any]]:
    """Return the programs that are modules of packages, or the others."""
    return {name: item for name, item in programs.items() if ("cbench" not in name) == is_real}


def _after(found: Results, source: str, steps: int) -> list[str]:
    """Return the methods of every seed that learnt from `source` for so many compilations."""
    return sorted(n for n in found if n.startswith(f"{source} ") and n.endswith(f" after {steps}"))


def _of_all_seeds(found: Results, source: str) -> list[int]:
    """Return after how many compilations the policies of every seed were judged."""
    counted = Counter(int(n.rpartition(" ")[2]) for n in found if n.startswith(f"{source} "))
    return sorted(steps for steps, seeds in counted.items() if seeds == max(counted.values()))


def plot_real(folder: Path, image: Path) -> None:
    """Draw what one episode gives on packages held out, over what was learnt from."""
    found = results(folder)
    some = next(iter(found.values()))
    shown = [
        (real, title)
        for real, title in ((True, "packages held out"), (False, "cbench-v1"))
        if part(some, real)
    ]
    figure, drawn = _axes(len(shown), (4.3 * len(shown), 4.2))
    both: list[Any] = np.atleast_1d(drawn).tolist()
    for axes, (real, title) in zip(both, shown, strict=True):
        for source, text in (("real", "real code"), ("generated", "generated code")):
            steps = _of_all_seeds(found, source)
            curves = [
                [score(part(found[f"{source} {seed} after {n}"], real)) for n in steps]
                for seed in range(len(_after(found, source, steps[-1])))
            ]
            _band(axes, steps, curves, f"learnt on {text}")
        draws = [found[name] for name in found if name.startswith("random ")]
        level = math.exp(np.mean([score(part(one, real)) for one in draws]))
        axes.axhline(level, color="C2", linestyle=":", linewidth=1, label="random actions")
        axes.set_title(title, fontsize=11)
        axes.set_xlabel("compilations while learning")
        axes.grid(alpha=0.25)
    both[0].set_ylabel("clang -Oz / what one episode leaves")
    both[0].legend(fontsize=9, loc="lower right")
    _save(figure, image)


def _axes(count: int, size: tuple[float, float]) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(1, count, figsize=size, layout="constrained")


def _save(figure: Any, image: Path) -> None:
    from matplotlib import pyplot

    figure.savefig(image, dpi=150, metadata={"Software": None})
    pyplot.close(figure)


def _band(axes: Any, xs: Sequence[int], curves: Sequence[Sequence[float]], label: str) -> None:
    points = [interval(values) for values in zip(*curves, strict=True)]
    mean, low, high = (np.array(column) for column in zip(*points, strict=True))
    axes.plot(xs, mean, label=label)
    axes.fill_between(xs, low, high, alpha=0.25)


def _text(found: tuple[float, float, float]) -> str:
    mean, low, high = found
    return f"{mean:.3f}" if math.isnan(low) else f"{mean:.3f} [{low:.3f}, {high:.3f}]"
