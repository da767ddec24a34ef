# SPDX-License-Identifier: MIT
"""A draft holds what a tracker asks for, and its link what the file holds."""

import base64
import json
from pathlib import Path
from typing import Any

from compiler_gym_hunt.llvm.decisions import HuntedDecision
from compiler_gym_hunt.llvm.drafts import draft, explorer_link, write_findings, write_title
from compiler_gym_hunt.llvm.page import page

from .conftest import ADDS

FINDING: dict[str, Any] = {
    "key": "1", "function": "<scan>", "package": "one", "decision": "default<Oz>,function(gvn)",
    "text": ADDS, "functions": 4, "packages": 3, "package_names": ["one", "three", "two"],
    "saved": 12, "sizes": {"x86_64": [20, 16], "aarch64": [24, 24], "riscv64": "cannot be made"},
    "instructions": [7, 6], "remarks": ["gvn (missed): load <not> eliminated"],
    "assembly": ["addl r, r", "retq"], "proof": {"kind": "execution", "judged": 500,
    "reached": "3 of 3"}, "versions": [
        {"version": 16, "level": 16, "decided": 16, "failure": ""},
        {"version": 19, "level": 0, "decided": 0, "failure": "opt-19 crashed"},
        {"version": 22, "level": 20, "decided": 16, "failure": ""}],
}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "where": "corpus", "goal": "size", "unit": "bytes", "level": "default<Oz>",
    "findings": [FINDING], "figures": {
        "programs": 5, "programs_examined": 4, "programs_unreadable": 1, "functions": 9,
        "duplicates": 1, "left_out": 0, "examined": 8, "functions_an_hour": 900, "with_gap": 4,
        "candidates": 2, "findings": 1, "dropped": {"prove": {"differs on input N": 1}}},
}  # fmt: skip


def test_a_draft_holds_what_a_tracker_asks_for() -> None:
    text = draft(FINDING, DOCUMENT)
    assert write_title(FINDING, DOCUMENT) == (
        "[-Oz] function(gvn) after -Oz improves the code: 20 to 16 bytes"
    )
    for part in (
        "4 functions of 3 packages", "define i32 @f", "opt-22 -passes='default<Oz>' f.ll",
        "opt-22 -passes='default<Oz>,function(gvn)' f.ll", "| bytes of code, x86-64 | 20 | 16 |",
        "| bytes of code, RISC-V 64 | - | cannot be made |", "| 19 | - | - | opt-19 crashed |",
        "missed since 22, not in 16", "regression from 16 (16) to 22 (20)",
        "By execution, not for all inputs", "- [ ] ",
    ):  # fmt: skip
        assert part in text


def test_a_link_opens_the_program_with_both_decisions() -> None:
    level = HuntedDecision(("default<Oz>",))
    link = explorer_link(ADDS, level, HuntedDecision.read(FINDING["decision"]))
    state = json.loads(base64.urlsafe_b64decode(link.rpartition("/")[2]))
    (session,) = state["sessions"]
    assert session["source"] == ADDS
    assert [one["id"] for one in session["compilers"]] == ["opttrunk", "opttrunk"]
    assert "function(gvn)" in session["compilers"][1]["options"]
    coded = explorer_link(ADDS, level, HuntedDecision(level.passes, ("disable-lsr=true",)))
    state = json.loads(base64.urlsafe_b64decode(coded.rpartition("/")[2]))
    assert state["sessions"][0]["compilers"][1]["options"].endswith("--disable-lsr=true")


def test_a_page_escapes_names_and_shows_every_finding() -> None:
    text = page(DOCUMENT)
    assert "<scan>" not in text
    assert "&lt;scan&gt;" in text
    assert text.count("<details") == 1
    assert "differs on input N" in text


def test_outdated_drafts_are_removed(tmp_path: Path) -> None:
    write_findings(tmp_path, DOCUMENT)
    assert (tmp_path / "findings" / "01" / "f.ll").read_text() == ADDS
    write_findings(tmp_path, DOCUMENT | {"findings": []})
    assert not list((tmp_path / "findings").iterdir())
    assert json.loads((tmp_path / "findings.json").read_text())["findings"] == []
