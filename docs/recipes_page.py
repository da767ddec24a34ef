# SPDX-License-Identifier: MIT
"""The reference page of what recipes win, and what each of their decisions wins.

    python -m docs.recipes_page outcomes/outcomes.jsonl judged/judged.jsonl

keeps what ``compiler-gym policy measure`` and ``policy judge`` wrote as one small file, of which
the page is made.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from compiler_gym.statistics import Interval
from compiler_gym.tools.tune import recipe_named
from compiler_gym_corpus.llvm.learning import (
    FAIR,
    PLAIN,
    Judgement,
    Outcomes,
    PlanOutcome,
    judge_arm,
    plan_key,
)
from compiler_gym_corpus.llvm.learning.plans import with_options

__all__ = ["keep_outcomes", "recipes_page"]

_OLD, _NEW = "linker -Wl,--icf=all", "linker -Wl,--icf=safe"
_COLLECTING = "linker -Wl,--gc-sections; "
"""How equal functions were folded when the kept sizes were measured, and how they are now."""
KEPT = Path(__file__).with_name("recipe_outcomes.tsv")
_TEST = "test"
_RECIPES = ("small", "small-packed")
_IDLE = {
    "split-spill-mode": "size",
    "aggressive-ext-opt": "true",
    "greedy-reverse-local-assignment": "true",
    "combiner-global-alias-analysis": "true",
}
"""What was tried together with what ``small`` has, and won nothing."""
_CLASSES = {"under 2,000": (0, 2000), "2,000 to 8,000": (2000, 8000), "from 8,000": (8000, 10**9)}
"""Programs by their instructions before any pass."""
_FEWEST = 20
"""Programs that a change must have been measured on."""
_FOLDED = "The rival is `clang -Oz -flto` with `--gc-sections --icf=safe`."
_BEFORE = (
    "The sizes were measured with `--icf=all`, for recipes and rival alike; "
    "on 23 programs that changes them by 0.0 to 0.3 %."
)
_HEAD = f"""\
Programs are the linked programs of [100 packages of Debian](../../packages/corpus/docs/corpus.md),
compiled from the modules that their builds left, linked with lld and stripped.
{_FOLDED}
Means are geometric over packages; brackets are 95 % intervals of drawing packages again and again.
Loaded bytes are what a loader maps: code, read-only data, data, relocations, unwind tables.
""".splitlines()


def keep_outcomes(files: Sequence[Path], kept: Path = KEPT) -> None:
    """Write what `files` say of the recipes on the split test, and of single changes elsewhere."""
    rows = {(row.program, row.plan): row for file in files for row in Outcomes(file).rows()}
    tried = _decisions(_tried())
    judged = {plan_key(PLAIN), plan_key(FAIR), *map(_key, _RECIPES)}

    def is_kept(row: PlanOutcome) -> bool:
        is_change = _names(tried, _decisions(row.plan)) <= 1
        return bool(row.code) and (row.plan in judged if row.split == _TEST else is_change)

    rows = {key: row for key, row in rows.items() if is_kept(row)}
    plans = sorted({row.plan for row in rows.values()})
    lines = [f"plan\t{number}\t{plan}" for number, plan in enumerate(plans)]
    for (program, plan), row in sorted(rows.items()):
        facts = (plans.index(plan), program, row.package, row.split, row.instructions)
        measured = (row.code, row.loaded, row.file, row.seconds, row.left)
        lines.append("\t".join(map(str, (*facts, *measured))))
    kept.write_text("\n".join(lines) + "\n", encoding="utf-8")


def recipes_page(kept: Path = KEPT) -> str:
    """Return the page as Markdown."""
    page = "\n".join(_page(_read(kept)))
    if _OLD not in kept.read_text(encoding="utf-8"):
        return page
    return page.replace(_FOLDED, f"{_FOLDED}\n{_BEFORE}")


def _read(kept: Path) -> list[PlanOutcome]:
    plans = dict[str, str]()
    rows = list[PlanOutcome]()
    for line in kept.read_text(encoding="utf-8").splitlines():
        first, *rest = line.split("\t")
        if first == "plan":
            plans[rest[0]] = rest[1].replace(_OLD, _NEW).replace(_COLLECTING, "")
            continue
        program, package, split, size, code, loaded, file, seconds, left = rest
        rows.append(
            PlanOutcome(
                program, package, split, int(size), plans[first], int(code), int(loaded), int(file),
                float(seconds), left=int(left),
            )
        )  # fmt: skip
    return rows


def _page(rows: Sequence[PlanOutcome]) -> Iterator[str]:
    judged = [row for row in rows if row.split == _TEST]
    learnt = [row for row in rows if row.split != _TEST]
    yield "# What recipes win"
    yield ""
    yield from _HEAD
    yield ""
    yield "## On packages that nobody looked at"
    yield ""
    yield (
        "These are all linked programs of the split `test`. *Grows* says how many have over 0.1 % "
        "more loaded bytes. *Time* is processor time of compiling and linking."
    )
    yield ""
    yield "| recipe | against | programs | code | loaded | file | worst | grows | time |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for recipe in _RECIPES:
        for name, rival in (("clang -Oz", PLAIN), ("the rival", FAIR)):
            found = _compared(judged, _key(recipe), plan_key(rival))
            yield (
                f"| {recipe} | {name} | {found.programs} of {found.packages} packages "
                f"| {_change(found.code)} | {_change(found.loaded)} | {_change(found.file)} "
                f"| {found.worst - 1:+.1%} | {found.clearly_larger} | {found.seconds.mean:.2f} |"
            )
    yield ""
    yield "By instructions before any pass, against the rival:"
    yield ""
    yield "| recipe | instructions | programs | code | loaded | worst |"
    yield "|---|---|---:|---:|---:|---:|"
    for recipe in _RECIPES:
        for label, (least, most) in _CLASSES.items():
            some = [row for row in judged if least <= row.instructions < most]
            found = _compared(some, _key(recipe), plan_key(FAIR))
            yield (
                f"| {recipe} | {label} | {found.programs} | {_change(found.code)} "
                f"| {_change(found.loaded)} | {found.worst - 1:+.1%} |"
            )
    left = _compared(judged, _key("small"), plan_key(FAIR)).left
    if left is not None:
        yield ""
        yield f"The passes leave {_change(left)} IR instructions of what the rival's leave."
    yield ""
    yield "## What each decision wins"
    yield ""
    yield (
        "All decisions that looked good on a few programs were tried together, and then with one "
        "left out (-), added (+) or both, on programs of the splits `train` and `validation`. "
        "A plus sign means larger without it: what is not larger without it is not in `small`."
    )
    yield ""
    yield "| change | programs | packages | code | loaded | least | most | grow | shrink |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    tried = _tried()
    every = _decisions(tried)
    changes = list[tuple[float, str]]()
    for plan in sorted({row.plan for row in learnt}):
        found = _compared(learnt, plan, tried)
        if _names(every, _decisions(plan)) != 1 or found.programs < _FEWEST:
            continue
        back = _compared(learnt, tried, plan)
        line = (
            f"| {_written(every, _decisions(plan))} | {found.programs} | {found.packages} "
            f"| {found.code.mean - 1:+.2%} | {_change(found.loaded, 2)} | {found.best - 1:+.1%} "
            f"| {found.worst - 1:+.1%} | {found.larger} | {back.larger} |"
        )
        changes.append((-found.loaded.mean, line))
    yield from (line for _, line in sorted(changes))
    yield ""


def _compared(rows: Sequence[PlanOutcome], plan: str, rival: str) -> Judgement:
    by_program = defaultdict[str, dict[str, PlanOutcome]](dict)
    for row in rows:
        by_program[row.program][row.plan] = row
    both = [found for found in by_program.values() if plan in found and rival in found]
    return judge_arm(plan, [one[plan] for one in both], rival, [one[rival] for one in both])


def _key(recipe: str) -> str:
    return plan_key(recipe_named(recipe).plan)


def _tried() -> str:
    return plan_key(with_options(recipe_named("small").plan, _IDLE))


def _decisions(plan: str) -> frozenset[str]:
    return frozenset(plan.split("; "))


def _names(one: frozenset[str], other: frozenset[str]) -> int:
    """Return how many decisions differ: another value of an option is one."""
    return len({decision.partition("=")[0] for decision in one ^ other})


def _written(every: frozenset[str], plan: frozenset[str]) -> str:
    out = [f"-`{decision.removeprefix('option ')}`" for decision in sorted(every - plan)]
    added = [f"+`{decision.removeprefix('option ')}`" for decision in sorted(plan - every)]
    return " ".join([*out, *added])


def _change(ratio: Interval, digits: int = 1) -> str:
    mean, low, high = (f"{each - 1:+.{digits}%}" for each in (ratio.mean, ratio.low, ratio.high))
    return f"{mean} [{low}, {high}]"


if __name__ == "__main__":
    keep_outcomes([Path(name) for name in sys.argv[1:]])
