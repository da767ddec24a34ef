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


def test_texts_are_read_from_cxx_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "given.cpp"
    file.write_text(
        "// The length\n// of a frame.\nint length = 1;  // in bytes\n"
        "  // Inside `it`.\nchar quote = '\"';\n"
        'auto ir = R"(define "a b c" ; // no)";\nauto text = "frame: " + x + "is left here";\n'
    )
    assert [(text.kind, text.line, text.content) for text in read_texts(file)] == [
        (Kind.DOCSTRING, 1, "The length\nof a frame."),
        (Kind.COMMENT, 3, "in bytes"),
        (Kind.COMMENT, 4, "Inside xxxx."),
        (Kind.MESSAGE, 7, "is left here"),
    ]


def test_the_name_of_a_test_is_a_sentence_and_its_strings_are_data(tmp_path: Path) -> None:
    file = tmp_path / "test_given.py"
    file.write_text(
        'def test_a_lock_that_nobody_holds() -> None:\n    print("whatever it takes")\n'
    )
    assert [*read_texts(file)] == [(Kind.NAME, 1, "a lock that nobody holds")]
    (problem,) = prose.find_problems([file], RULES)
    assert (problem.line, problem.rule) == (1, "indefinite-person")


@pytest.mark.parametrize(
    "name",
    ["native/src/a.cpp", "native/include/a/b.h", "tests/core/test_a.py",
     "packages/hunt/tests/test_a.py", "packages/hunt/README.md", "packages/inline/src/a/b.h"],
)  # fmt: skip
def test_native_code_tests_and_packages_are_checked(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    comment = {".py": "#", ".md": ""}.get(file.suffix, "//")
    allowed = tmp_path / "allowed.toml"
    allowed.touch()
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "ALLOWED", allowed)
    monkeypatch.setattr("sys.argv", ["prose"])
    file.write_text(f"{comment} The length of a frame.\n")
    assert prose.main() == 0
    file.write_text(f"{comment} The length, whatever it is.\n")
    assert prose.main() == 1
    folder = "/".join(file.relative_to(tmp_path).parent.parts[: 4 if "packages" in name else 2])
    assert f"{folder}: 1 problems, 0 are allowed" in capsys.readouterr().out


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
