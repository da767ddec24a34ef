# SPDX-License-Identifier: MIT
"""All findings of a hunt as one HTML file: it needs no network, no script and no other file."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from compiler_gym.tools.hunt.llvm.decisions import HuntedDecision, HuntGoal
from compiler_gym.tools.tune import html_page, html_table

__all__ = ["before_and_after", "page"]


def page(document: Mapping[str, Any]) -> str:
    """Return the page."""
    body = "\n".join(_parts(document))
    return html_page(f"Missed in {document['where']}", body)


def _parts(document: Mapping[str, Any]) -> Iterator[str]:
    figures = document["figures"]
    level = document["level"].removeprefix("default<").removesuffix(">")
    yield f"<h1>What -{escape(level)} misses in {escape(document['where'])}</h1>"
    yield (
        f"<p>{len(document['findings'])} findings among {figures['examined']:,} different "
        f"functions of {figures['programs_examined']:,} programs, "
        f"{figures['functions_an_hour']:,} functions an hour. "
        "Each is reduced, proven, counted and compared with other versions.</p>"
    )
    yield _overview(document)
    for number, finding in enumerate(document["findings"], start=1):
        yield _finding(number, finding, document)
    yield _survivors(figures)


def _overview(document: Mapping[str, Any]) -> str:
    rows = [
        (
            "", (f'<a href="#f{number}">{number}</a>', ""), (_said(finding, document), "name"),
            *((one, "number") for one in (
                _change(finding, document), f"{finding['functions']:,}",
                f"{finding['packages']:,}", f"{finding['saved']:,g}",
            )),
        )
        for number, finding in enumerate(document["findings"], start=1)
    ]  # fmt: skip
    head = ("", "Decision", document["unit"], "Functions", "Packages", "Saved there")
    return html_table(head, rows)


def _said(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    decision = HuntedDecision.read(finding["decision"])
    if decision.codegen:
        return f"<code>--{escape(decision.codegen[0])}</code>"
    extra = ",".join(one for one in decision.passes if one != document["level"])
    place = "before" if decision.passes[-1] == document["level"] else "after"
    return f"<code>{escape(extra)}</code> {place}"


def before_and_after(finding: Mapping[str, Any], goal: str) -> tuple[float, float]:
    """Return what the level leaves of a finding, and what its decision leaves."""
    kind = HuntGoal(goal)
    if kind is HuntGoal.CYCLES:
        before, after = finding["costs"]
    else:
        before, after = (
            finding["instructions"] if kind is HuntGoal.INSTRUCTIONS else finding["sizes"]["x86_64"]
        )
    return before, after


def _change(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    before, after = before_and_after(finding, document["goal"])
    return f"{before:g} → {after:g}"


def _finding(number: int, finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    versions = [
        (
            "", (str(row["version"]), ""), (f"{row['level'] or '-'}", "number"),
            (f"{row['decided'] or '-'}", "number"), (escape(row["failure"]), ""),
        )
        for row in finding["versions"]
    ]  # fmt: skip
    before, after = (escape(text) for text in finding["assembly"])
    return (
        f'<details id="f{number}"><summary><b>{number}</b> {_said(finding, document)}: '
        f"{_change(finding, document)} in {finding['packages']} packages</summary>\n"
        f"<p class=soft>From <code>{escape(finding['function'])}</code> of "
        f"{escape(finding['package'])}; proven by {escape(finding['proof']['kind'])}. "
        f"The draft is <code>findings/{number:02}/README.md</code>.</p>\n"
        f"<pre>{escape(finding['text'])}</pre>\n<div class=pair><div><p>Level</p>"
        f"<pre>{before}</pre></div><div><p>Decision</p><pre>{after}</pre></div></div>\n"
        f"{html_table(('LLVM', 'Level', 'Decision', ''), versions)}\n"
        "</details>"
    )


def _survivors(figures: Mapping[str, Any]) -> str:
    rows = [
        ("", (name, ""), (f"{figures[key]:,}", "number"))
        for name, key in (
            ("programs there are", "programs"), ("programs examined", "programs_examined"),
            ("of these, unreadable", "programs_unreadable"),
            ("functions of a fitting size", "functions"), ("of these, duplicates", "duplicates"),
            ("and left out: enough of one program", "left_out"),
            ("functions examined", "examined"), ("with a gap", "with_gap"),
            ("candidates followed", "candidates"), ("findings", "findings"),
        )
    ]  # fmt: skip
    lost = [
        ("", (f"{escape(step)}: {escape(reason)}", ""), (f"{count:,}", "number"))
        for step, reasons in figures["dropped"].items()
        for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1])
    ]
    return (
        f"<h2>What survived each step</h2>{html_table(('Step', 'Count'), rows)}"
        f"<h2>Why candidates were dropped</h2>{html_table(('Step', 'Count'), lost)}"
    )
