# SPDX-License-Identifier: MIT
"""All findings of a hunt as one HTML file: it needs no network, no script and no other file."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from compiler_gym.envs.llvm.hunting.decisions import Decision, Goal

__all__ = ["before_and_after", "page"]

_STYLE = """
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:auto;padding:1rem}
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.2rem .6rem;text-align:left}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
tbody tr:nth-child(odd){background:#8881}
pre{overflow:auto;background:#8881;padding:.6rem;font-size:.8rem}.soft{opacity:.75}
.scroll{overflow-x:auto}details{border-top:1px solid #8884;padding:.4rem 0}
summary{cursor:pointer}code{overflow-wrap:anywhere}.pair{display:flex;flex-wrap:wrap;gap:1rem}
.pair>*{flex:1 1 18rem;min-width:0}
"""


def page(document: Mapping[str, Any]) -> str:
    """Return the page."""
    body = "\n".join(_parts(document))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Missed in {escape(document['where'])}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


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
            _cell(f'<a href="#f{number}">{number}</a>'), _cell(_said(finding, document)),
            _number(_change(finding, document)), _number(f"{finding['functions']:,}"),
            _number(f"{finding['packages']:,}"), _number(f"{finding['saved']:,g}"),
        )
        for number, finding in enumerate(document["findings"], start=1)
    ]  # fmt: skip
    head = ("", "Decision", document["unit"], "Functions", "Packages", "Saved there")
    return _table(head, rows, numbers=(2, 3, 4, 5))


def _said(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    decision = Decision.read(finding["decision"])
    if decision.codegen:
        return f"<code>--{escape(decision.codegen[0])}</code>"
    extra = ",".join(one for one in decision.passes if one != document["level"])
    place = "before" if decision.passes[-1] == document["level"] else "after"
    return f"<code>{escape(extra)}</code> {place}"


def before_and_after(finding: Mapping[str, Any], goal: str) -> tuple[float, float]:
    """Return what the level leaves of a finding, and what its decision leaves."""
    kind = Goal(goal)
    if kind is Goal.CYCLES:
        before, after = finding["costs"]
    else:
        before, after = (
            finding["instructions"] if kind is Goal.INSTRUCTIONS else finding["sizes"]["x86_64"]
        )
    return before, after


def _change(finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    before, after = before_and_after(finding, document["goal"])
    return f"{before:g} → {after:g}"


def _finding(number: int, finding: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    versions = "".join(
        f"<tr><td>{row['version']}</td><td class=number>{row['level'] or '-'}</td>"
        f"<td class=number>{row['decided'] or '-'}</td><td>{escape(row['failure'])}</td></tr>"
        for row in finding["versions"]
    )
    before, after = (escape(text) for text in finding["assembly"])
    return (
        f'<details id="f{number}"><summary><b>{number}</b> {_said(finding, document)}: '
        f"{_change(finding, document)} in {finding['packages']} packages</summary>\n"
        f"<p class=soft>From <code>{escape(finding['function'])}</code> of "
        f"{escape(finding['package'])}; proven by {escape(finding['proof']['kind'])}. "
        f"The draft is <code>findings/{number:02}/README.md</code>.</p>\n"
        f"<pre>{escape(finding['text'])}</pre>\n<div class=pair><div><p>Level</p>"
        f"<pre>{before}</pre></div><div><p>Decision</p><pre>{after}</pre></div></div>\n<table><thead><tr><th>LLVM</th>"
        f"<th>Level</th><th>Decision</th><th></th></tr></thead><tbody>{versions}</tbody></table>\n"
        "</details>"
    )


def _survivors(figures: Mapping[str, Any]) -> str:
    rows = [
        (_cell(name), _number(f"{figures[key]:,}"))
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
        (_cell(f"{escape(step)}: {escape(reason)}"), _number(f"{count:,}"))
        for step, reasons in figures["dropped"].items()
        for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1])
    ]
    return (
        f"<h2>What survived each step</h2>{_table(('Step', 'Count'), rows, numbers=(1,))}"
        f"<h2>Why candidates were dropped</h2>{_table(('Step', 'Count'), lost, numbers=(1,))}"
    )


def _cell(html: str) -> str:
    return f"<td>{html}</td>"


def _number(text: str) -> str:
    return f"<td class=number>{text}</td>"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]], *, numbers: tuple[int, ...]) -> str:
    top = "".join(
        f"<th{' class=number' if i in numbers else ''}>{escape(name)}</th>"
        for i, name in enumerate(head)
    )
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div class=scroll>{table}</div>"
