# SPDX-License-Identifier: MIT
"""The result is printed for people and written for programs, and what failed is said."""

import io
import json
import subprocess
from pathlib import Path

from rich.console import Console

from compiler_gym.envs.llvm.demonstration.comparison import METRICS, Comparison
from compiler_gym.envs.llvm.demonstration.report import print_conclusion, print_table, write

from .rows import row


def printed(*rows: Comparison, opt: str | None = "opt-22", width: int = 200) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width)
    print_table(console, rows, opt=opt)
    print_conclusion(console, rows, opt=opt, files=[Path("demo-results/results.png")])
    return text.getvalue()


def test_numbers_and_what_they_say_are_shown() -> None:
    text = printed(row(counted=80), row(name="sha", found=125, counted=125))
    for words in ("crc32", "20.0%", "80 ✓", "125 ✓", "demo-results/results.png"):
        assert words in text
    assert "most on crc32, 20.0%." in text
    assert "opt-22 alone makes 2 of these 2 programs the same again." in text
    assert "sha: nothing beats clang -Oz yet" in text


def test_nothing_is_cut_on_80_columns() -> None:
    longest = row(name="stringsearch", o0=9_081, o3=9_118, oz=7_846, opt_oz=7_889, found=6_799)
    text = printed(longest, width=80)
    assert "…" not in text
    assert "6,799" in text


def test_what_opt_says_otherwise_and_what_failed_is_said() -> None:
    text = printed(row(counted=81), row(name="sha", problem="unknown pass name"), row(name="susan"))
    assert "81 ✗" in text
    assert "crc32: the search counted 80, opt counts 81" in text
    assert "failed ✗" in text
    assert "sha: the command failed: unknown pass name" in text
    assert "susan:" not in text


def test_a_program_without_a_saving_has_no_share() -> None:
    assert " - " in printed(row(o0=100, oz=100), opt=None)


def test_the_files_hold_the_numbers_and_a_script_that_stops_at_a_failure(tmp_path: Path) -> None:
    rows = [row(command="touch first"), row(command="false"), row(command="touch last")]
    results, script = write(tmp_path, rows, {"seed": 3})
    document = json.loads(results.read_text())
    assert document["seed"] == 3
    assert document["geometric_means"]["COz/C"] == 1.25
    assert [program["instructions"]["found"] for program in document["programs"]] == [80] * 3
    assert set(METRICS) <= document["programs"][0].keys()
    assert subprocess.run([script], check=False, capture_output=True).returncode == 1
    assert (tmp_path / "first").exists()
    assert not (tmp_path / "last").exists()


def test_only_what_was_checked_is_counted() -> None:
    text = printed(row(), row(name="sha"))
    assert "the same again" not in text
    assert "Not checked with opt-22: 2 of 2 programs." in text
    text = printed(row(counted=80), row(name="sha"))
    assert "opt-22 alone makes 1 of these 1 programs the same again." in text
    assert "Not checked with opt-22: 1 of 2 programs." in text
    assert "Not checked" not in printed(row(counted=80))
    assert "Not checked" not in printed(row(), opt=None)
