# SPDX-License-Identifier: MIT
"""Leaderboards as tables of Markdown, and the pages that hold them."""

import re
from collections.abc import Iterable, Sequence

from compiler_gym.leaderboard.metrics import Interval
from compiler_gym.leaderboard.submission import Submission
from compiler_gym.leaderboard.task import Task

__all__ = ["leaderboard_table", "ranked", "tables_of", "with_tables"]

_HEAD = (
    "policy", "(C0-C)/(C0-Cb)", "Cb/C", "(Cb-C)/Cb", "without outliers: Cb/C", "improved",
    "seconds", "compilations",
)  # fmt: skip
_MARKS = re.compile(
    r"(<!-- leaderboard(?: (?P<task>[\w.-]+))?:.*?-->\n).*?(<!-- end leaderboard -->)", re.S
)


def ranked(submissions: Iterable[Submission]) -> list[Submission]:
    """Return submissions by the mean of ``Cb/C``, the best first; late ones are left out."""
    on_time = [s for s in submissions if not any(outcome.is_late for outcome in s.outcomes)]

    def mean(submission: Submission) -> float:
        ratio = submission.evaluation.summary.ratio
        return 0.0 if ratio is None else ratio.mean

    return sorted(on_time, key=lambda s: (-mean(s), s.name))


def leaderboard_table(task: Task, submissions: Sequence[Submission]) -> str:
    """Return the table of one task, the best first."""
    lines = [f"**{task.name}**: {task.description}", "", _row(_HEAD), _row(["---"] + ["--:"] * 7)]
    for submission in ranked(s for s in submissions if s.task.name == task.name):
        evaluation = submission.evaluation
        found = evaluation.summary
        outliers = f" ({len(found.outliers)} out)" if found.outliers else ""
        lines.append(
            _row(
                (
                    submission.name,
                    _interval(found.share),
                    _interval(found.ratio),
                    _interval(found.saving, percent=True),
                    _interval(found.ratio_without_outliers) + outliers,
                    f"{found.improved:.0%}",
                    f"{evaluation.walltime:.2f}",
                    f"{evaluation.compilations:,.0f}",
                )
            )
        )
    return "\n".join(lines)


def tables_of(submissions: Sequence[Submission]) -> str:
    """Return the tables of every task that has a submission."""
    tasks = {submission.task.name: submission.task for submission in submissions}
    return "\n\n".join(
        leaderboard_table(tasks[name], submissions) for name in sorted(tasks, key=_order)
    )


def with_tables(text: str, submissions: Sequence[Submission]) -> str:
    """Return a page with the tables between its marks brought up to date.

    A mark may name one task: ``<!-- leaderboard llvm-ic-10s: ... -->``.
    """

    def fill(found: re.Match[str]) -> str:
        chosen = [s for s in submissions if found["task"] in (None, s.task.name)]
        return f"{found[1]}\n{tables_of(chosen)}\n\n{found[3]}"

    return _MARKS.sub(fill, text)


def _order(name: str) -> tuple[str, float]:
    digits = re.search(r"(\d+)s$", name)
    return re.sub(r"\d+s$", "", name), float(digits[1]) if digits else 0.0


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _interval(interval: Interval | None, *, percent: bool = False) -> str:
    if interval is None:
        return "-"
    if percent:
        return f"{interval.mean:.1%} [{interval.low:.1%}, {interval.high:.1%}]"
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
