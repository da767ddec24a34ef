# SPDX-License-Identifier: MIT
"""The reference page of what searches of passes, marks and options leave of bundled programs."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["decisions_page"]

FOUND = Path(__file__).with_name("decisions_found.jsonl")
"""What ``python -m scripts.decisions_table`` wrote."""
_COSTS = {"text": "Bytes of code", "instructions": "IR instructions"}
_SPACES = {
    "passes": "passes",
    "marks": "marks, then -Oz",
    "codegen": "-Oz, options",
    "all": "all together",
}
_HEAD = """\
Each program was searched in each space with the same number of compilations, one seed.
A compilation is one run over the program as it is at reset, looked at once, at its end.
`passes` are sequences of passes and levels.
`marks` are [marks](../guide/marks.md) before -Oz.
`options` are [options of the code generator](../guide/codegen.md) after -Oz.
All together is one search of `MarksAndCodegen`: a part of its compilations for passes, a part for
options, a part for marks, each on the best that there is.
Percentages are against clang's -Oz, with size attributes; opt's -Oz has none: see
[two baselines](../guide/baselines.md).
The action -Oz leaves a little more than clang on some programs, so that a search may end above it.
Searches begin with sequences and options that are known to be good, some of them from these
programs: see `starting_sequences.txt`.""".splitlines()
_MOST_KINDS, _MOST_NAMED = 20, 3

Row = dict[str, Any]


def decisions_page(found: Path = FOUND) -> str:
    """Return the page as Markdown."""
    lines = found.read_text(encoding="utf-8").splitlines() if found.exists() else []
    rows: list[Row] = [json.loads(line) for line in lines]
    return "\n".join(_page(rows))


def _page(rows: list[Row]) -> Iterator[str]:
    counts = sorted({row["compilations"] for row in rows})
    yield "# What searches of decisions leave of bundled programs"
    yield ""
    yield from _HEAD
    yield f"The second column says how many: {counts[0]} to {counts[-1]}." if counts else ""
    valid = sum(row["valid"] == "yes" for row in rows)
    yield f"{valid} of the {len(rows)} programs that were found passed validation: replayed,"
    yield "verified, run on their inputs and compared."
    yield "`python -m scripts.decisions_table` searches what is missing here."
    yield ""
    for cost, heading in _COSTS.items():
        of_cost = [row for row in rows if row["cost"] == cost]
        if of_cost:
            yield from _section(heading, of_cost)


def _section(heading: str, rows: list[Row]) -> Iterator[str]:
    programs: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        programs[row["program"]][row["space"]] = row
    spaces = [space for space in _SPACES if any(space in p for p in programs.values())]
    whole = {name: found for name, found in programs.items() if all(s in found for s in spaces)}
    yield f"## {heading}"
    yield ""
    yield from _summary(whole, spaces)
    yield ""
    yield _cells(["program", "compilations", "opt -Oz", "clang -Oz", *(_SPACES[s] for s in spaces)])
    yield f"| --- |{' --: |' * (3 + len(spaces))}"
    for name in sorted(programs):
        found = programs[name]
        any_row = next(iter(found.values()))
        best = min(row["found"] for row in found.values())
        shown = [_left(found[space], best) if space in found else "" for space in spaces]
        head = [str(any_row["compilations"]), _number(any_row["OptOz"]), _number(any_row["Oz"])]
        yield _cells([name, *head, *shown])
    for title, baseline in (("against clang's -Oz", "Oz"), ("against opt's -Oz", "OptOz")):
        means = [_mean([p[space] for p in whole.values()], baseline) for space in spaces]
        yield _cells([f"**mean {title}**", "", "", "", *(f"**{mean:+.1%}**" for mean in means)])
    yield ""
    yield from _what_mattered(heading, [found["all"] for found in whole.values()])


def _summary(programs: dict[str, dict[str, Row]], spaces: Sequence[str]) -> Iterator[str]:
    """Yield who wins, in words."""
    names = {space: _SPACES[space] for space in spaces}
    wins = dict.fromkeys(spaces, 0)
    for found in programs.values():
        least = min(found[space]["found"] for space in spaces)
        for space in spaces:
            wins[space] += found[space]["found"] == least
    yield f"Geometric means over {len(programs)} programs, and how often each left the least:"
    for space in spaces:
        mean = _mean([found[space] for found in programs.values()], "Oz")
        yield f"- {names[space]}: {mean:+.1%}, the least of {wins[space]}"
    opt = math.prod(
        found[spaces[0]]["OptOz"] / found[spaces[0]]["Oz"] for found in programs.values()
    )
    more = opt ** (1 / max(len(programs), 1)) - 1
    yield ""
    yield f"opt's -Oz without size attributes leaves {more:.1%} more than clang's: a result that"
    yield "is compared with it has won that before any search."


def _what_mattered(heading: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield which kinds of decisions of the searches of everything lose most when taken away."""
    lost: dict[str, list[float]] = defaultdict(list)
    chosen: dict[str, int] = defaultdict(int)
    named: list[tuple[str, list[str]]] = []
    for row in rows:
        kinds: dict[str, float] = defaultdict(float)
        for name, more in row["without"].items():
            kinds[_kind(name)] += more / row["found"]
        for kind in _kinds(row["actions"].split()):
            chosen[kind] += 1
            lost[kind].append(kinds.get(kind, 0.0))
        most = sorted(row["without"].items(), key=lambda item: -item[1])[:_MOST_NAMED]
        named.append((row["program"], [f"`{name}` {more:+,.0f}" for name, more in most]))
    ranked = sorted(filter(lambda kind: any(lost[kind]), lost), key=lambda kind: -sum(lost[kind]))
    yield f"### Which decisions mattered: {heading}"
    yield ""
    yield "What all together found, without all decisions of one kind: how much more is left, over"
    yield "the programs for which that kind was chosen. Without its passes, and the marks before"
    yield "them, there is -Oz."
    yield ""
    yield _cells(["decision", "programs", "mattered in", "mean", "most"])
    yield f"| --- |{' --: |' * 4}"
    for kind in ranked[:_MOST_KINDS]:
        shares = lost[kind]
        mean, most = sum(shares) / len(shares), max(shares)
        mattered = sum(share > 0 for share in shares)
        yield _cells(
            [f"`{kind}`", str(chosen[kind]), str(mattered), f"{mean:+.2%}", f"{most:+.2%}"]
        )
    yield ""
    yield _cells(["program", "what loses most when it is taken away"])
    yield "| --- | --- |"
    for program, texts in sorted(named):
        yield _cells([program, ", ".join(texts)])
    yield ""


def _kinds(actions: Sequence[str]) -> set[str]:
    """Return the kinds of decisions among actions; other passes than -Oz are one.

    >>> sorted(_kinds(["call:1=never", "call:2=never", "sroa<modify-cfg=1>"]))
    ['call=never', 'passes']
    """
    is_decision = {name: "=" in name and "<" not in name for name in actions}
    kinds = {_kind(name) for name in actions if is_decision[name]}
    passes = [name for name in actions if not is_decision[name]]
    return kinds if passes == ["-Oz"] else kinds | {"passes"}


def _kind(name: str) -> str:
    """Return the kind of what was taken away.

    >>> _kind("call=never (3)"), _kind("call:7=never"), _kind("regalloc=basic")
    ('call=never', 'call=never', 'regalloc=basic')
    """
    decision, _, choice = name.partition(" (")[0].partition("=")
    return f"{decision.partition(':')[0]}={choice}" if choice else decision


def _mean(rows: Sequence[Row], baseline: str) -> float:
    logs = [math.log(row["found"] / row[baseline]) for row in rows]
    return math.exp(sum(logs) / max(len(logs), 1)) - 1


def _left(row: Row, best: float) -> str:
    text = f"{_number(row['found'])} ({row['found'] / row['Oz'] - 1:+.1%})"
    return f"**{text}**" if row["found"] == best else text


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
