# SPDX-License-Identifier: MIT
"""Every rule about English finds its example, and no folder has more findings than before."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("proselint")

from scripts.prose import __main__ as prose
from scripts.prose.texts import Kind, read_texts

RULES = prose.Rules()


def find(text: str, rule: dict[str, Any]) -> set[str]:
    """Return the names of the rules that find a problem in `text`."""
    kind = Kind(rule.get("where", ["page"])[0])
    return {name for _, name, _ in RULES.check(text, kind)}


@pytest.mark.parametrize("name", RULES.tables)
def test_each_rule_finds_its_example_and_passes_the_better_one(name: str) -> None:
    rule = RULES.tables[name]
    assert name in find(rule["finds"], rule)
    assert find(rule["passes"], rule) == set()


def test_texts_are_read_from_python_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "given.py"
    file.write_text(
        '"""A module."""\n\nvalue = 1  # the reason\n"""Number of values."""\n\n\n'
        'def fail() -> None:\n    """Fail."""\n    raise ValueError(f"no action {value} here")\n'
    )
    assert {(text.kind, text.line, text.content) for text in read_texts(file)} == {
        (Kind.DOCSTRING, 1, "A module."),
        (Kind.COMMENT, 3, "the reason"),
        (Kind.DOCSTRING, 4, "Number of values."),
        (Kind.DOCSTRING, 8, "Fail."),
        (Kind.MESSAGE, 9, "no action x here"),
    }


def test_code_in_a_page_is_not_prose(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("A `whatever` value.\n\n```python\nwhatever = 1\n```\n\nSay whatever.\n")
    (problem,) = prose.find_problems([page], RULES)
    assert (problem.line, problem.rule, problem.words) == (7, "indefinite-person", "whatever")


def test_a_folder_with_more_findings_than_before_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("Whatever it takes.\n")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "ALLOWED", tmp_path / "allowed.toml")
    monkeypatch.setattr("sys.argv", ["prose", "--write"])
    assert prose.main() == 0
    monkeypatch.setattr("sys.argv", ["prose"])
    assert prose.main() == 0
    page.write_text("Whatever it takes, whoever asks.\n")
    assert prose.main() == 1
    assert "python -m scripts.prose ." in capsys.readouterr().out
