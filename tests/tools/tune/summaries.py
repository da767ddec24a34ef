# SPDX-License-Identifier: MIT
"""A summary with something of everything."""

from dataclasses import replace

from compiler_gym.tools.tune import (
    BinarySummary,
    FunctionSize,
    ReportedDecision,
    SourceSize,
    TuningSummary,
)

BINARY = BinarySummary(
    "src/tool", "bin/src/tool",
    {
        "clang -Oz": {"text": 1000, "loaded": 4900, "total": 5000},
        "clang -Oz -flto": {"text": 900, "loaded": 4400, "total": 4500},
        "tuned": {"text": 800, "loaded": 3900, "total": 4000},
    },
    "clang -Oz -flto", True, 1234, "function(sroa<modify-cfg>)",
    (
        ReportedDecision("passes", 60),
        ReportedDecision("option a=b", -4),
        ReportedDecision("linker -Wl,-x", None),
    ),
    ("option broken=true",), {},
    (SourceSize("a.c", 500, 450, 400), SourceSize("", 0, 10, 20)),
    (
        FunctionSize("operator<<(int)", "a.c", 400, 300),
        FunctionSize("grown", "a.c", 10, 30),
        FunctionSize("gone", "a.c", 40, 0),
        FunctionSize("outlined", "", 0, 20),
    ),
)  # fmt: skip
SUMMARY = TuningSummary(
    "llvm 22.1.8", "size", ("make", "-j2"), None, None, 60.0, None, 7, "/home/me/tuned",
    (BINARY,), ("src/other",), False,
)  # fmt: skip


def with_binary(**changes: object) -> TuningSummary:
    """Return the summary with another binary."""
    return replace(SUMMARY, binaries=(replace(BINARY, **changes),))  # type: ignore[arg-type]
