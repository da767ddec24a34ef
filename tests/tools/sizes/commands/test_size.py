# SPDX-License-Identifier: MIT
"""``compiler-gym size`` fits a terminal, explains failures, and holds a file to its budget."""

from pathlib import Path

import pytest

from compiler_gym.tools.sizes import measure_file
from tests.command_line import Run

from ..conftest import BUILDS, MAIN, Build
from ..conftest import build as build  # a fixture


@pytest.fixture
def grown(build: Build) -> tuple[Path, Path]:
    """Return two builds of which the second is larger."""
    more = 'static const char text[900] = "x"; puts(text + count); puts(names[count & 3])'
    larger = MAIN.replace("puts(names[count & 3])", more)
    return build(MAIN, "gcc -O1"), build(larger, "gcc -O1")


def test_the_report_fits_80_columns(cli: Run, build: Build) -> None:
    for name in ("clang", "g++", "rustc", "gcc object"):
        ran = cli("size", str(build(*BUILDS[name])), COLUMNS="80", TTY_COMPATIBLE="1", TERM="dumb")
        assert ran.status == 0
        lines = ran.output.splitlines()
        assert max(len(line.rstrip()) for line in lines[1:]) <= 80
        assert any(line.split()[:1] == ["code"] for line in lines)
    shown = cli("size", str(build(*BUILDS["clang"])), COLUMNS="80").output
    assert "strip FILE, or -Wl,-s" in shown


@pytest.mark.parametrize("by", ["function", "namespace", "file", "section", "member"])
def test_every_kind_of_owner_is_listed_or_explained(cli: Run, build: Build, by: str) -> None:
    shown = cli("size", str(build(*BUILDS["clang++ -g"])), "--by", by, "--most", "3").output
    expected = {
        "function": "others]", "namespace": "shop", "file": ".cpp", "section": ".text",
        "member": "This is not an archive",
    }  # fmt: skip
    assert expected[by] in shown


def test_a_file_within_its_budget_passes(cli: Run, grown: tuple[Path, Path]) -> None:
    ran = cli("size", str(grown[0]), "--budget", "100kB")
    assert ran.status == 0
    assert "below the budget of 100,000" in ran.errors


def test_a_file_over_its_budget_fails_and_names_what_grew(
    cli: Run, grown: tuple[Path, Path]
) -> None:
    before, after = grown
    limit = measure_file(before).loaded
    assert cli("size", str(before), "--budget", str(limit)).status == 0
    ran = cli("size", str(after), str(before), "--budget", str(limit))
    assert ran.status == 1
    over = measure_file(after).loaded - limit
    assert f"{over:,} over the budget of {limit:,}" in ran.errors
    assert "+900 text" in ran.errors
    alone = cli("size", str(after), "--budget", str(limit), "--json")
    assert alone.status == 1
    assert "pass the last build within the budget too" in alone.errors


def test_differences_are_shown_by_part_and_owner(cli: Run, grown: tuple[Path, Path]) -> None:
    before, after = grown
    shown = cli("size", str(after), str(before)).output
    assert "compared with" in shown
    growth = measure_file(after).loaded - measure_file(before).loaded
    assert any(line.split()[:1] == [f"{growth:+,}"] for line in shown.splitlines())
    assert "Remedies" not in shown
    assert "No function changed its size." in cli("size", str(before), str(before)).output
    document = cli("size", str(after), str(before), "--json").json
    assert document["loaded"] - document["before"]["loaded"] == growth


def test_a_stripped_file_is_explained(cli: Run, build: Build) -> None:
    path = build("c", "gcc -O1 -s")
    ran = cli("size", str(path), str(path), "--by", "namespace")
    assert "executable, position-independent, stripped, compared" in ran.output
    advice = (
        f"Stripped: {path.name}. To see the names of all functions, pass the unstripped file.\n"
    )
    assert ran.errors == advice
    assert "[no symbol]" in cli("size", str(path)).output
    assert cli("size", str(path), "--json").json["notes"] == [advice.strip()]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("missing",), "cannot read missing: No such file"),
        ((".",), "is a folder"),
        (("notes.txt",), "is not an ELF file"),
        (("notes.txt", "--budget", "much"), "give a number of bytes"),
        (("notes.txt", "--by", "color"), "color"),
        (("notes.txt", "--most", "0"), "greater than or equal to 1"),
        ((), "Missing argument 'FILE'"),
    ],
)
def test_bad_input_is_explained(
    cli: Run, tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    ran = cli("size", *arguments)
    assert ran.status == 2
    assert reason in ran.errors
    assert "Traceback" not in ran.errors
