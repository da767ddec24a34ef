# SPDX-License-Identifier: MIT
"""Every example in a docstring of the package runs, and the runner sees one that does not."""

import ast
import doctest
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scripts.sources import CORE, PACKAGES, module_name

ROOMS = sorted(
    {*(CORE / path.relative_to(CORE).parts[0] for path in CORE.rglob("*.py")), *PACKAGES.values()}
)
PARSER = doctest.DocTestParser()


def examples_in(text: str) -> int:
    """Return how many examples the docstrings of a file hold, those of attributes too."""
    strings = (
        node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    return sum(len(PARSER.get_examples(string)) for string in strings)


def documented(place: Path) -> Iterator[tuple[str, int]]:
    """Yield every module below `place` that shows examples, and how many."""
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        text = path.read_text(encoding="utf-8")
        if ">>> " in text and (count := examples_in(text)):
            yield module_name(path), count


def load(name: str) -> ModuleType:
    """Return module `name`, or skip the test for want of a library of an extra."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "compiler_gym").startswith("compiler_gym"):
            raise
        pytest.skip(f"{error.name} is missing")


def runs(name: str, count: int) -> str:
    """Run the `count` examples of module `name`; return what is wrong with them."""
    ran = doctest.testmod(load(name))
    if ran.failed:
        return f"{name}: {ran.failed} examples fail"
    return "" if ran.attempted == count else f"{name}: doctest does not find every docstring"


@pytest.mark.parametrize("package", ROOMS, ids=lambda place: place.name)
def test_every_example_of_a_package_runs(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong: list[str] = []
    missing: list[str] = []
    for name, count in documented(package):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        try:
            wrong.append(runs(name, count))
        except pytest.skip.Exception as skipped:
            missing.append(f"{name}: {skipped}")
    found = [fault for fault in wrong if fault]
    assert found == [], "\n".join(found)
    if missing:
        pytest.skip("; ".join(missing))


def test_an_example_that_fails_or_is_not_found_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    text = '"""\n>>> 1 + 1\n3\n"""\n\nsize = 1\n"""\n>>> size\n1\n"""\n'
    (tmp_path / "wrong_example.py").write_text(text)
    assert examples_in(text) == 2
    assert runs("wrong_example", 2) == "wrong_example: 1 examples fail"
    assert "Expected:\n    3\nGot:\n    2" in capsys.readouterr().out
    del sys.modules["wrong_example"]
    (tmp_path / "hidden_example.py").write_text(text.replace("3", "2"))
    assert runs("hidden_example", 2) == "hidden_example: doctest does not find every docstring"
    del sys.modules["hidden_example"]


def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    (tmp_path / "wants_more.py").write_text("import no_such_library\n")
    with pytest.raises(pytest.skip.Exception, match="no_such_library is missing"):
        load("wants_more")
    with pytest.raises(ModuleNotFoundError, match=r"compiler_gym\.nowhere"):
        load("compiler_gym.nowhere")
