# SPDX-License-Identifier: MIT
"""``compiler-gym search-rules`` as a shell sees it."""

from pathlib import Path

from tests.command_line import Run

WORDS = ("search-rules", "--programs", "crc32")


def test_a_search_is_continued_and_judged_on_other_programs(cli: Run, tmp_path: Path) -> None:
    log = tmp_path / "trials.jsonl"
    words = (*WORDS, "--decision", "frame", "--output", str(log))
    assert cli(*words, "--trials", "1").status == 0
    first = log.read_text()
    told = cli(*words, "--trials", "2", "--judge-on", "qsort", "--json").json
    assert log.read_text().startswith(first)
    assert len(told["curve"]) == 2
    assert set(told["sets"]) == {"crc32", "qsort"}
    assert told["sets"]["qsort"]["plain"] > 0


def test_a_function_in_a_file_proposes(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text('def propose(history):\n    return f"frame = calls > {len(history)}"\n')
    ran = cli(*WORDS, "--propose", str(path), "--trials", "2")
    assert ran.status == 0, ran.errors
    assert "best of 2 rules" in ran.output


def test_mistakes_are_explained(cli: Run, tmp_path: Path) -> None:
    assert "did you mean frame" in cli(*WORDS, "--decision", "frames").errors
    assert "no file" in cli(*WORDS, "--propose", str(tmp_path / "none.py")).errors
