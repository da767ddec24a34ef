# SPDX-License-Identifier: MIT
"""A tuning as one HTML file: it needs no network, no script and no other file.

Light or dark as the reader's browser is, readable on a phone. Every text of a project's is
escaped; every number is one that was measured.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from compiler_gym.tools.tune.front_page import front_picture
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.html import html_page, html_table
from compiler_gym.tools.tune.measure import columns
from compiler_gym.tools.tune.plan import PLAN_FILE
from compiler_gym.tools.tune.summary import (
    TUNED,
    BinarySummary,
    ReportedDecision,
    TuningSummary,
    share,
)
from compiler_gym.tools.tune.tuner import FunctionSize

__all__ = ["page"]

_MOST_BARS = 30
"""Functions in the picture; all of them are in the table below it."""
_ELSEWHERE = "start-up files, libraries, and functions that no object has by itself"


def page(summary: TuningSummary) -> str:
    """Return the page."""
    title = f"{', '.join(binary.name for binary in summary.binaries)}, tuned for {summary.goal}"
    body = "\n".join([*_parts(summary)])
    return html_page(title, body)


def _parts(summary: TuningSummary) -> Iterator[str]:
    for binary in summary.binaries:
        yield _head(binary, summary)
        yield _sizes(binary)
        yield _speed(binary)
        yield _front(binary)
        yield _decisions(binary)
        yield _functions(binary.functions)
        yield _sources(binary)
    yield _made(summary)


def _head(binary: BinarySummary, summary: TuningSummary) -> str:
    if binary.is_better:
        won = {Goal.SPEED: "faster", Goal.BOTH: f"{binary.change} and no slower"}.get(
            Goal(summary.goal), binary.change
        )
        lead = f'<span class="better">{won}</span> than {escape(binary.rival)}.'
    else:
        lead = f"Nothing better than {escape(binary.rival)} was found; this is what that makes."
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in binary.notes)
    end = " The search was ended early." if summary.is_interrupted else ""
    return (
        f'<header>\n<h1 class="wrap">{escape(binary.name)}</h1>\n'
        f'<p class="lead">{lead}</p>\n<p class="soft">Tuned for {escape(summary.goal)} with '
        f"{escape(summary.compiler)}, {binary.tried:,} compilations measured.{end}</p>\n"
        f"{notes}</header>"
    )


def _sizes(binary: BinarySummary) -> str:
    tuned, key, shown = binary.sizes[TUNED], binary.measure.key, columns(binary.sizes)
    rows = [
        (
            "tuned" if name == TUNED else "",
            (escape(name), "name"),
            *((f"{sizes[one.key]:,}", "number") for one in shown),
            ("" if name == TUNED else _change(sizes[key], tuned[key]), "change"),
        )
        for name, sizes in binary.sizes.items()
    ]
    head = ("Built with", *(one.label for one in shown), "Tuned is")
    said = (
        "Bytes of the linked, stripped file. Loaded are code, read-only data, data, relocations "
        f"and unwind tables. The last column compares: {binary.measure.label}."
    )
    return _section("Sizes", said, html_table(head, rows))


def _speed(binary: BinarySummary) -> str:
    speed = binary.speed
    if "speedup" not in speed:
        return ""
    found = speed["speedup"]
    low, high = speed.get("low", found), speed.get("high", found)
    span = max(abs(low - 1), abs(high - 1), 0.02) * 1.25

    def at(value: float) -> float:
        return 50 + (value - 1) / span * 50

    kind = "after" if low > 1 else "larger" if high < 1 else "before"
    text = (
        '<div class="bars"><svg viewBox="0 0 100 12" preserveAspectRatio="none" height="24" '
        f'role="img" aria-label="from {low:.3f} to {high:.3f} times">'
        f'<rect class="track" width="100" height="12"/><rect class="{kind}" x="{at(low):.2f}" '
        f'y="3" width="{max(at(high) - at(low), 0.5):.2f}" height="6"/>'
        '<line class="axis" x1="50" x2="50" y1="0" y2="12" vector-effect="non-scaling-stroke"/>'
        "</svg></div>"
    )
    said = (
        f"{found:.3f} times as fast as {binary.rival}, between {low:.3f} and {high:.3f}; "
        "the dashed line is as fast."
    )
    return _section("Speed", said, text)


def _front(binary: BinarySummary) -> str:
    if not binary.front:
        return ""
    rival = binary.sizes[binary.rival]["text"]
    rows = [
        (
            "tuned" if row.is_recommended else "",
            (escape(row.name), "name"),
            (f"{row.code:,}", "number"),
            (share(rival, row.code), "change"),
            (f"{row.speed['speedup']:.3f}", "number"),
            (f"{row.speed['low']:.3f} to {row.speed['high']:.3f}" if "low" in row.speed else "-",
             "number"),
            (f"<code>{escape(row.plan)}</code>", "name"),
        )
        for row in binary.front
    ]  # fmt: skip
    head = ("Build", "Code", "Against the rival", "Times as fast", "95 % interval", "Plan")
    said = (
        "From the smallest to the fastest: no build is both larger and slower than another. "
        f"The recommended one is bold; dashed lines are {binary.rival}."
    )
    return _section("Small or fast", said, front_picture(binary) + html_table(head, rows))


def _decisions(binary: BinarySummary) -> str:
    taken = [(d, "not measured") for d in binary.not_measured]
    taken += [(d, "taken back: a test fails with it") for d in binary.taken_back]
    measured = [(d.gain, d) for d in binary.decisions if d.gain is not None]
    if not measured and not taken:
        return ""
    most = max((abs(gain) for gain, _ in measured), default=0)
    measured.sort(key=lambda pair: -pair[0])
    rows = [_decision(decision, gain, most) for gain, decision in measured]
    rows += [_bar(name, "", said) for name, said in taken]
    said = f"Bytes that the file grows by without it, all others kept: {binary.measure.label}."
    passes = ""
    if binary.passes:
        passes = (
            f"<details><summary>The passes</summary><pre>{escape(binary.passes)}</pre>"
            f"{_steps(binary)}</details>"
        )
    return _section(
        "What each decision won", said, f'<ul class="bars">{"".join(rows)}</ul>{passes}'
    )


def _steps(binary: BinarySummary) -> str:
    rows = [
        ("", (f"<code>{escape(name)}</code>", "name"), (escape(said), ""))
        for name, said in binary.steps.items()
    ]
    return html_table(("Pass", "What it does"), rows) if rows else ""


def _decision(decision: ReportedDecision, gain: int, most: int) -> str:
    kind = "after" if gain >= 0 else "larger"
    width = 100 * abs(gain) / most if most else 0
    return _bar(decision.name, _svg(10, [(kind, 0, 10, width)]), f"{gain:+,}", _said(decision))


def _said(decision: ReportedDecision) -> str:
    """Return the sentence of a decision, with its link."""
    if not decision.meaning:
        return ""
    more = f' <a href="{escape(decision.link)}">More</a>' if decision.link else ""
    return f'<span class="said">{escape(decision.meaning)}{more}</span>'


def _functions(functions: Sequence[FunctionSize]) -> str:
    changed = [function for function in functions if function.before != function.after]
    if not changed:
        return ""
    changed.sort(key=lambda f: (-abs(f.before - f.after), f.name))
    shown = sorted(changed[:_MOST_BARS], key=lambda f: (-max(f.before, f.after), f.name))
    most = max(max(f.before, f.after) for f in shown)
    bars = "".join(
        _bar(
            f.name,
            _svg(18, [("before", 1, 6, 100 * f.before / most),
                      (_kind(f), 9, 8, 100 * f.after / most)]),
            _numbers(f.before, f.after),
        )
        for f in shown
    )  # fmt: skip
    key = (
        '<p class="note"><span class="key" style="background:var(--before)"></span>before'
        '<span class="key" style="background:var(--after)"></span>after, smaller'
        '<span class="key" style="background:var(--worse)"></span>after, larger'
        '<span class="key" style="background:var(--new)"></span>new</p>'
    )
    rows = [
        ("", (f"<code>{escape(f.name)}</code>", "name"), (escape(f.source), "name"),
         (f"{f.before:,}", "number"), (f"{f.after:,}", "number"))
        for f in functions
    ]  # fmt: skip
    every = html_table(("Function", "Source", "Before", "After"), rows)
    said = (
        "Bytes in the fair rival and in the tuned file: those that changed most. One that is gone "
        "became part of its callers or is nobody's; one that is new was part of others before."
    )
    rest = f"<details><summary>All {len(functions):,} functions</summary>{every}</details>"
    return _section("Sizes by function", said, f'{key}<ul class="bars">{bars}</ul>{rest}')


def _kind(function: FunctionSize) -> str:
    if not function.before:
        return "new"
    return "after" if function.after <= function.before else "larger"


def _sources(binary: BinarySummary) -> str:
    if not binary.sources:
        return ""
    rows = [
        (
            "",
            (escape(s.path) if s.path else f'<span class="soft">{_ELSEWHERE}</span>', "name"),
            (f"{s.alone:,}" if s.alone else "", "number"),
            (f"{s.before:,}", "number"),
            (f"{s.after:,}", "number"),
        )
        for s in binary.sources
    ]
    said = (
        "Bytes of code: of its object in a plain build, and of the functions that keep its names "
        f"in {binary.rival} and in the tuned file. What became part of its caller counts there."
    )
    head = ("Source", "Its object", "Fair rival", "Tuned")
    return _section("Sources", said, html_table(head, rows))


def _made(summary: TuningSummary) -> str:
    bounds = [
        f"{summary.seconds:g} seconds" if summary.seconds is not None else "",
        f"{summary.compilations:,} compilations" if summary.compilations is not None else "",
    ]
    rows = [
        ("Built by", shlex.join(summary.build)),
        ("Tested by", summary.check or ""),
        ("Run by", summary.run or ""),
        ("Search", f"{', '.join(filter(None, bounds))}, seed {summary.seed}"),
        ("Also linked by this build", ", ".join(summary.others)),
    ]
    cells = [
        ("", (escape(name), ""), (f"<code>{escape(text)}</code>", "name"))
        for name, text in rows
        if text
    ]
    untested = (
        "" if summary.check or summary.run else
        "<p>No test was run on the tuned file: give <code>--check</code> or <code>--run</code>.</p>"
    )  # fmt: skip
    return _section(
        "How it was made",
        f"{PLAN_FILE} holds every decision; "
        "reproduce.sh makes the same bytes without this library.",
        untested + html_table(("", ""), cells),
    )


def _section(title: str, said: str, body: str) -> str:
    note = f'<p class="note">{escape(said)}</p>'
    return f"<section>\n<h2>{escape(title)}</h2>\n{note}\n{body}\n</section>"


def _bar(name: str, picture: str, numbers: str, said: str = "") -> str:
    return (
        f'<li><span class="name" title="{escape(name)}"><code>{escape(name)}</code></span>'
        f'<span class="picture">{picture}</span><span class="number">{numbers}</span>{said}</li>'
    )


def _svg(height: int, bars: Iterable[tuple[str, float, float, float]]) -> str:
    """Return bars, each a class, where it begins from above, its height and its width in %."""
    drawn = "".join(
        f'<rect class="{kind}" y="{top:g}" height="{high:g}" width="{width:.2f}%" rx="1.5"/>'
        for kind, top, high, width in bars
        if width
    )
    return f'<svg height="{height}" aria-hidden="true">{drawn}</svg>'


def _numbers(before: int, after: int) -> str:
    if not before:
        return f"new → {after:,}"
    return f"{before:,} → {after:,}" if after else f"{before:,} → gone"


def _change(before: int, after: int) -> str:
    said = share(before, after)
    kind = "better" if said.endswith("smaller") else "worse" if said.endswith("larger") else "soft"
    return f'<span class="{kind}">{said}</span>'
