# SPDX-License-Identifier: MIT
"""Write all findings of a hunt as one HTML page."""

from collections.abc import Mapping
from typing import Any

from compiler_gym.tools.tune import render_page
from compiler_gym_hunt.llvm.decisions import HuntedDecision, HuntGoal

__all__ = ["before_and_after", "page"]

_STEPS = {
    "programs": "programs",
    "programs_examined": "programs examined",
    "programs_unreadable": "unreadable programs",
    "functions": "functions of a suitable size",
    "duplicates": "duplicate functions",
    "left_out": "skipped functions (limit per program)",
    "examined": "functions examined",
    "with_gap": "functions with a gap",
    "candidates": "candidates reduced",
    "findings": "findings",
}
"""Labels of the figures of a hunt, in the order of its steps."""


def page(document: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    figures, level = document["figures"], document["level"]

    def describe(finding: Mapping[str, Any]) -> tuple[str, str]:
        """Return the decision of `finding`, and its place relative to the level."""
        decision = HuntedDecision.read(finding["decision"])
        if decision.codegen:
            return f"--{decision.codegen[0]}", ""
        extra = ",".join(name for name in decision.passes if name != level)
        return extra, "before" if decision.passes[-1] == level else "after"

    def change(finding: Mapping[str, Any]) -> str:
        before, after = before_and_after(finding, document["goal"])
        return f"{before:g} → {after:g}"

    dropped = [
        (f"{step}: {reason}", f"{count:,}")
        for step, reasons in figures["dropped"].items()
        for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1])
    ]
    return render_page(
        "hunt.html",
        "compiler_gym_hunt.llvm",
        title=f"Missed in {document['where']}",
        document=document,
        level=level.removeprefix("default<").removesuffix(">"),
        describe=describe,
        change=change,
        steps=[(name, f"{figures[key]:,}") for key, name in _STEPS.items()],
        dropped=dropped,
    )


def before_and_after(finding: Mapping[str, Any], goal: str) -> tuple[float, float]:
    """Return the costs of a finding with the level and with its decision."""
    kind = HuntGoal(goal)
    if kind is HuntGoal.CYCLES:
        before, after = finding["costs"]
    else:
        before, after = (
            finding["instructions"] if kind is HuntGoal.INSTRUCTIONS else finding["sizes"]["x86_64"]
        )
    return before, after
