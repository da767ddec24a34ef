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

SOURCE = Path(__file__).parents[2] / "src"
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


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def documented() -> Iterator[tuple[str, int]]:
    """Yield every module of the package that shows examples, and how many."""
    for path in sorted(SOURCE.rglob("*.py")):
        count = examples_in(path.read_text(encoding="utf-8"))
        if count:
            yield module_name(path), count


def load(name: str) -> ModuleType:
    """Return module `name`, or skip the test for want of a library of an extra."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "compiler_gym").partition(".")[0] == "compiler_gym":
            raise
        pytest.skip(f"{error.name} is missing")


@pytest.mark.parametrize(("name", "count"), [pytest.param(*one, id=one[0]) for one in documented()])
def test_every_example_of_a_module_runs(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(name)
    monkeypatch.chdir(tmp_path)
    ran = doctest.testmod(module)
    assert ran.failed == 0, name
    assert ran.attempted == count, f"{name}: doctest does not find every docstring"


def test_an_example_that_fails_or_is_not_found_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = '"""\n>>> 1 + 1\n3\n"""\n\nsize = 1\n"""\n>>> size\n1\n"""\n'
    (tmp_path / "wrong_example.py").write_text(text)
    assert examples_in(text) == 2
    ran = doctest.testmod(load("wrong_example"))
    assert (ran.failed, ran.attempted) == (1, 1)
    assert "Expected:\n    3\nGot:\n    2" in capsys.readouterr().out
    del sys.modules["wrong_example"]


def test_a_library_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "wants_more.py").write_text("import no_such_library\n")
    with pytest.raises(pytest.skip.Exception, match="no_such_library is missing"):
        load("wants_more")
    with pytest.raises(ModuleNotFoundError, match=r"compiler_gym\.nowhere"):
        load("compiler_gym.nowhere")
