# SPDX-License-Identifier: MIT
"""Leaderboards as Markdown tables, and the pages that contain them."""

import re
from collections.abc import Iterable, Sequence

from compiler_gym.tools.learn.leaderboard.metrics import ScoreInterval
from compiler_gym.tools.learn.leaderboard.submission import Submission
from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask

__all__ = ["leaderboard_table", "rank_submissions", "with_tables", "write_tables"]

_HEAD = (
    "rank", "policy", "(C0-C)/(C0-Cb)", "(C0-C)/(C0-Cp)", "Cb/C", "(Cb-C)/Cb",
    "without outliers: Cb/C", "improved", "seconds", "compilations", "times",
)  # fmt: skip
_TABLE_MARKS = re.compile(
    r"(<!-- leaderboard(?: (?P<task>[\w.-]+))?:.*?-->\n).*?(<!-- end leaderboard -->)", re.S
)


def rank_submissions(submissions: Iterable[Submission]) -> list[Submission]:
    """Return the ranked submissions by the mean of ``Cb/C``, best first.

    Late submissions and those that have not been reproduced are left out.
    """
    return _by_ratio(s for s in submissions if s.is_ranked)


def leaderboard_table(task: LeaderboardTask, submissions: Sequence[Submission]) -> str:
    """Return the table of one task, best first.

    Unranked submissions follow, with claimed times and compilations; ranked ones show those
    measured when they were reproduced.
    """
    entries = [s for s in submissions if s.task.name == task.name]
    unranked = [s for s in entries if not s.is_ranked and not any(o.is_late for o in s.outcomes)]
    lines = [
        f"**{task.name}**: {task.description} ({_baseline_rows(task)})", "",
        _markdown_row(_HEAD), _markdown_row(["--:", "---"] + ["--:"] * 8 + ["---"]),
    ]  # fmt: skip
    for rank, submission in enumerate(rank_submissions(entries), start=1):
        lines.append(_entry_row(str(rank), submission))
    lines += [_entry_row("-", submission) for submission in _by_ratio(unranked)]
    return "\n".join(lines)


def _baseline_rows(task: LeaderboardTask) -> str:
    published = task.published_baseline
    return f"Cb: `{task.baseline}`" + (f", Cp: `{published}`" if published else "")


def _by_ratio(submissions: Iterable[Submission]) -> list[Submission]:
    def mean(submission: Submission) -> float:
        ratio = submission.evaluation.summary.ratio
        return 0.0 if ratio is None else ratio.mean

    return sorted(submissions, key=lambda s: (-mean(s), s.name))


def _entry_row(rank: str, submission: Submission) -> str:
    evaluation, rerun = submission.evaluation, submission.rerun
    summary = evaluation.summary
    seconds, compilations = (
        (evaluation.walltime, evaluation.compilations)
        if rerun is None
        else (rerun.seconds, rerun.compilations)
    )
    outliers = f" ({len(summary.outliers)} out)" if summary.outliers else ""
    return _markdown_row(
        (
            rank,
            _escape(submission.name),
            _interval_cell(summary.share),
            _interval_cell(summary.published_share),
            _interval_cell(summary.ratio),
            _interval_cell(summary.saving, percent=True),
            _interval_cell(summary.ratio_without_outliers) + outliers,
            f"{summary.improved:.0%}",
            "-" if seconds is None else f"{seconds:.2f}",
            "-" if compilations is None else f"{compilations:,.0f}",
            "claimed" if rerun is None else "reproduced",
        )
    )


def _escape(name: str) -> str:
    """Return `name` escaped, so that it cannot end a cell, a row or the marked part of a page."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def write_tables(submissions: Sequence[Submission]) -> str:
    """Return the tables of every task that has a submission."""
    tasks = {submission.task.name: submission.task for submission in submissions}
    return "\n\n".join(
        leaderboard_table(tasks[name], submissions) for name in sorted(tasks, key=_ranking)
    )


def with_tables(text: str, submissions: Sequence[Submission]) -> str:
    """Return a page with the tables between its marks updated.

    A mark may name one task: ``<!-- leaderboard llvm-ic-10s: ... -->``.
    """

    def fill(match: re.Match[str]) -> str:
        selected = [s for s in submissions if match["task"] in (None, s.task.name)]
        return f"{match[1]}\n{write_tables(selected)}\n\n{match[3]}"

    return _TABLE_MARKS.sub(fill, text)


def _ranking(name: str) -> tuple[str, float]:
    digits = re.search(r"(\d+)s$", name)
    return re.sub(r"\d+s$", "", name), float(digits[1]) if digits else 0.0


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _interval_cell(interval: ScoreInterval | None, *, percent: bool = False) -> str:
    if interval is None:
        return "-"
    if percent:
        return f"{interval.mean:.1%} [{interval.low:.1%}, {interval.high:.1%}]"
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
