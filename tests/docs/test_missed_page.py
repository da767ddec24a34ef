# SPDX-License-Identifier: MIT
"""The page of findings: what is committed meets what the guide promises of every finding."""

import json
from typing import Any

from docs.missed_page import FOUND, missed_page

HUNTS: list[dict[str, Any]] = json.loads(FOUND.read_text())
FINDINGS = [(hunt, finding) for hunt in HUNTS for finding in hunt["findings"]]


def test_every_finding_is_short_proven_common_and_no_other_one() -> None:
    assert len(FINDINGS) >= 18
    for hunt, finding in FINDINGS:
        assert len(finding["text"].splitlines()) <= 30
        assert finding["proof"]["kind"] in ("alive2", "execution")
        assert finding["packages"] >= 3
        newest = finding["versions"][-1]
        assert newest["failure"] == ""
        assert newest["decided"] < newest["level"]
        assert hunt["goal"] in ("size", "instructions")
    shapes = [(hunt["goal"], finding["shape"]) for hunt, finding in FINDINGS]
    assert len(set(shapes)) == len(shapes)


def test_the_page_shows_every_finding_with_its_decision_and_program() -> None:
    text = missed_page()
    for _, finding in FINDINGS:
        assert finding["text"] in text
        assert finding["decision"].replace("|", "\\|") in text
    assert text.count("\nProof by ") == len(FINDINGS)


def test_bugs_known_to_llvm_are_marked() -> None:
    looked_up = [finding for _, finding in FINDINGS if finding.get("known")]
    assert len(looked_up) >= 5
