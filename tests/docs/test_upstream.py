# SPDX-License-Identifier: MIT
"""Reports for LLVM's tracker are complete, and their figures are those that were measured.

Their commands run with those of every other page, in `test_pages`.
"""

import json
from typing import Any

import pytest

from docs.shown import EVERY_PAGE
from docs.site import ROOT

REPORTS = {
    "epilogue-pop": "epilogues",
    "branch-merging": "branches",
    "hoisted-constants": "constants",
}
"""The name of each report among the counts."""
FOLDER = ROOT / "docs" / "upstream"
COUNTS: dict[str, dict[str, Any]] = json.loads((FOLDER / "counts.json").read_text())


def test_every_report_is_run_and_counted() -> None:
    assert {page.stem for page in EVERY_PAGE if page.parent == FOLDER} == set(REPORTS)
    assert set(COUNTS) == {"measured", *REPORTS.values()}


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_has_what_maintainers_ask_for(report: str) -> None:
    text = (FOLDER / f"{report}.md").read_text()
    for heading in ("Reproduce", "Why it is correct", "How often", "Where"):
        assert f"\n## {heading}\n" in text
    assert 'title="f.ll"' in text
    assert 'title="check.c"' in text
    assert "LLVM 22.1.8" in text
    assert text.count("```console\n") == text.count("<!-- output -->\n"), "an output is not shown"


@pytest.mark.parametrize(("report", "key"), REPORTS.items())
def test_the_figures_are_those_that_were_counted(report: str, key: str) -> None:
    text = (FOLDER / f"{report}.md").read_text()
    effect, measured = COUNTS[key], COUNTS["measured"]
    saved = 100 * (effect["saved"] - effect["added"]) / measured["bytes"]
    assert effect["saved"] > effect["added"]
    assert f"{effect['functions']} functions of {effect['packages']} packages" in text
    assert f"{effect['saved']:,} bytes" in text
    assert f"{saved:.2f} %" in text
    assert f"{measured['functions']:,} functions, {measured['bytes']:,} bytes" in text
