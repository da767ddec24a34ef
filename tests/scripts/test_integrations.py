# SPDX-License-Identifier: MIT
"""Each library on a page has a row, and outcomes are stored with the reason of a failure."""

import subprocess
from pathlib import Path

import pytest

from docs.integrations_page import integrations_page
from docs.shown import EVERY_PAGE
from scripts import integrations
from scripts.integrations import ROOT, Integration, Outcome, main, read_outcomes, read_table
from tests.docs.blocks import blocks_of


def list_needs(page: Path) -> set[frozenset[str]]:
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    return {frozenset(block.needs) for block in blocks if block.needs}


def test_each_block_that_needs_a_library_is_tried_by_a_row() -> None:
    tried = {
        (ROOT / page, need) for row in read_table() for page in row.pages for need in row.needs
    }
    for page in EVERY_PAGE:
        for needs in list_needs(page):
            assert {(page, need) for need in needs} <= tried, f"{page}: no row for {set(needs)}"


@pytest.mark.parametrize("row", read_table(), ids=lambda row: row.package)
def test_a_row_names_code_that_exists(row: Integration) -> None:
    needs = set(row.needs)
    for page in row.pages:
        assert not needs or any(some <= needs for some in list_needs(ROOT / page)), page
    assert all((ROOT / path).exists() for path in row.tests)


def test_a_row_has_a_stored_outcome() -> None:
    assert list(read_outcomes()) == [row.package for row in read_table()]


def test_the_last_line_that_names_an_error_is_the_reason() -> None:
    said = "Traceback:\n  File x\nValueError: no key\n\nhint: read the manual\n"
    find = integrations._find_reason  # pyright: ignore[reportPrivateUsage]
    assert find(subprocess.CalledProcessError(1, "x", said)) == "ValueError: no key"
    assert find(subprocess.CalledProcessError(-11, "x", "")) == "exit status -11"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "integrations.json"
    monkeypatch.setattr(integrations, "RESULTS", place)
    return place


def try_as(outcomes: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each row named in `outcomes` end with its error."""

    def try_integration(row: Integration) -> Outcome:
        return Outcome(row.package, "1.0", "2026-01-02", outcomes[row.package])

    monkeypatch.setattr(integrations, "try_integration", try_integration)


@pytest.mark.usefixtures("results")
def test_a_new_failure_fails_the_run_and_a_known_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    try_as({"trl": "", "minari": "TypeError: x"}, monkeypatch)
    assert main(["trl"]) == 0
    assert main(["trl", "minari"]) == 1
    assert main(["minari"]) == 0
    assert {name: one.error for name, one in integrations.read_outcomes().items()} == {
        "minari": "TypeError: x",
        "trl": "",
    }


def test_an_unknown_package_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["minary"])
    assert "no row for minary; there are gymnasium," in capsys.readouterr().err


def test_a_failure_is_shown_with_its_reason() -> None:
    rows = [
        Integration("trl", ["docs/guide/integrations.md"], title="TRL"),
        Integration("old", ["docs/guide/integrations.md"], note="It is old."),
    ]
    outcomes = {
        "trl": Outcome("trl", "1.0", "2026-01-02", beside={"torch": "2.0"}),
        "old": Outcome("old", "", "2026-01-02", "A|B"),
    }
    lines = integrations_page(rows, outcomes).splitlines()
    link = "../guide/integrations.md"
    assert lines[-2:] == [
        f"| [TRL]({link}) | 1.0 | 2026-01-02 | works | torch 2.0 |",
        f"| [old]({link}) |  | 2026-01-02 | fails: `A/B`. It is old. |  |",
    ]
