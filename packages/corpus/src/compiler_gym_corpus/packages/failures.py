# SPDX-License-Identifier: MIT
"""Classify failed package builds by their logs."""

import re
from collections.abc import Sequence

from compiler_gym_corpus.packages.records import BuildOutcome

__all__ = ["explain_log", "last_lines"]

_SHOWN_LINES, _SHOWN_BYTES, _LONGEST = 20, 4000, 300
_CLEANED = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_RULES: Sequence[tuple[BuildOutcome, re.Pattern[str]]] = [
    (outcome, re.compile(pattern, re.IGNORECASE))
    for outcome, pattern in (
        (
            BuildOutcome.DISK,
            r"no space left on device|file size limit exceeded|file too large|disk quota exceeded",
        ),
        (
            BuildOutcome.MEMORY,
            r"virtual memory exhausted|cannot allocate memory|out of memory|std::bad_alloc"
            r"|fatal error: killed signal terminated program",
        ),
        (BuildOutcome.PROCESSES, r"cannot fork|fork: (retry|resource)|fork failed"),
        (
            BuildOutcome.CONFIGURE,
            r"^configure: error|^cmake error|^meson\.build:\d+:\d+: error|^error: dependency "
            r"|possibly undefined macro|^(autoreconf|aclocal|automake|autoconf):? .*(error|failed)"
            r"|package requirements .* not met",
        ),
        (
            BuildOutcome.COMPILER,
            r":\d+(:\d+)?: (fatal )?error: "
            r"|^(cc1|cc1plus|gcc|g\+\+|cc|c\+\+|clang)\S*: (fatal )?error"
            r"|undefined reference to|^collect2: error|^/\S*ld: .*(cannot find|undefined)"
            r"|: assembler messages:|internal compiler error",
        ),
        (
            BuildOutcome.NO_DEPENDENCY,
            r"^(/\S*sh|sh|bash|make(\[\d+\])?|env|/usr/bin/env|\S+/configure)\b.*: "
            r"(not found|command not found|no such file or directory)"
            r"|can't locate \S+ in @inc|modulenotfounderror|unable to locate|no module named",
        ),
        (
            BuildOutcome.RULES,
            r"^make(\[\d+\])?: \*\*\* |^dh\w*: error|^ninja: build stopped|^\S+: error: "
            r"|^dpkg-source: error",
        ),
    )
]


def explain_log(log: str) -> tuple[BuildOutcome, str]:
    """Return the outcome of a failed build and the line of its `log` that explains it.

    Builds can print errors and continue, so lines near the end are searched first. The first
    matching line of an outcome is returned.
    """
    lines = [line for line in _clean(log).splitlines() if line.strip()]
    for lines_to_search in (lines[-60:], lines[-2000:]):
        for outcome, pattern in _RULES:
            reason = next((line for line in lines_to_search if pattern.search(line)), None)
            if reason is not None:
                return outcome, reason.strip()[:_LONGEST]
    return BuildOutcome.UNEXPLAINED, (
        lines[-1].strip()[:_LONGEST] if lines else "it printed nothing"
    )


def last_lines(log: str) -> str:
    """Return the end of a log, without terminal control sequences."""
    return "\n".join(_clean(log).rstrip().splitlines()[-_SHOWN_LINES:])[-_SHOWN_BYTES:]


def _clean(log: str) -> str:
    return _CLEANED.sub("", log.replace("\r\n", "\n"))
