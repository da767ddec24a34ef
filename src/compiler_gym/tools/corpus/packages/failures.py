# SPDX-License-Identifier: MIT
"""Why did the build of a package fail? The class, and the line of its log that says so."""

import re
from collections.abc import Sequence

from compiler_gym.tools.corpus.packages.records import BuildOutcome

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
    """Return the class of a failure whose log is `log`, and the line that says why.

    A build may print an error that it survives: the nearer to the end, the likelier it is the one.
    Of the reasons of a class the first is given.
    """
    lines = [line for line in _clean(log).splitlines() if line.strip()]
    near, all_lines = lines[-60:], lines[-2000:]
    for searched in (near, all_lines):
        for outcome, pattern in _RULES:
            said = next((line for line in searched if pattern.search(line)), None)
            if said is not None:
                return outcome, said.strip()[:_LONGEST]
    return BuildOutcome.UNEXPLAINED, (
        lines[-1].strip()[:_LONGEST] if lines else "it printed nothing"
    )


def last_lines(log: str) -> str:
    """Return the end of a log, without what a terminal would act on."""
    return "\n".join(_clean(log).rstrip().splitlines()[-_SHOWN_LINES:])[-_SHOWN_BYTES:]


def _clean(log: str) -> str:
    return _CLEANED.sub("", log.replace("\r\n", "\n"))
