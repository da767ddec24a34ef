# SPDX-License-Identifier: MIT
"""stringsearch2 against Python's search, its Unicode tables and GNU grep."""

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Execute, cases

ALGORITHMS = [
    *("horspool", "raita", "sunday", "smith", "tuned", "zhu-takaoka"),
    *("berry-ravindran", "optimal-mismatch", "maximal-shift"),
]
LETTERS = "abcÀàÁÉéßØøÿýÝ\xf7\xd7ÆæñÑ1 "


def _fold(text: str, mode: str) -> str:
    """Fold as Unicode does; every letter of ISO 8859-1 stays one letter."""
    if mode == "":
        return text
    lowered = text.lower()
    return lowered if mode == "-i" else "".join(unicodedata.normalize("NFD", c)[0] for c in lowered)


def _places(pattern: str, text: str) -> list[str]:
    found: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        column = line.find(pattern)
        while column >= 0:
            found.append(f"{number}:{column + 1}")
            column = line.find(pattern, column + 1)
    return found


def _expected(pattern: str, text: str, mode: str) -> bytes:
    places = _places(_fold(pattern, mode), _fold(text, mode))
    shown = (", at " + " ".join(places[:4]) if places else "") + (" ..." if len(places) > 4 else "")
    return f"{pattern}: {len(places)}{shown}\n".encode("latin-1")


def _write(folder: Path, patterns: list[str], text: str) -> None:
    (folder / "patterns").write_bytes("".join(p + "\n" for p in patterns).encode("latin-1"))
    (folder / "text").write_bytes(text.encode("latin-1"))


@pytest.mark.parametrize("mode", ["", "-i", "-A"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("letters", ["ab", "aAàÀ", LETTERS])
def test_every_place_is_found_as_python_finds_it(
    execute: Execute, tmp_path: Path, algorithm: str, mode: str, letters: str
) -> None:
    rng = cases.Random(len(letters))

    def draw(most: int) -> str:
        return "".join(rng.choice(letters) for _ in range(rng.between(1, most)))

    text = "\n".join(draw(80) for _ in range(40))
    patterns = [draw(6) for _ in range(40)] + [draw(3) * 7 for _ in range(10)] + [text[5:60]]
    patterns = [pattern.replace("\n", " ") for pattern in patterns]
    _write(tmp_path, patterns, text)
    options = ["-a", algorithm, *([mode] if mode else [])]
    expected = b"".join(_expected(pattern, text, mode) for pattern in patterns)
    assert execute("stringsearch2", *options, "patterns", "text") == expected


@pytest.mark.parametrize("mode", ["-i", "-A"])
def test_each_letter_of_latin_1_is_folded_as_unicode_folds_it(
    execute: Execute, tmp_path: Path, mode: str
) -> None:
    letters = [chr(code) for code in range(1, 256) if chr(code) != "\n"]
    text = "".join(letters)
    _write(tmp_path, letters, text)
    expected = b"".join(_expected(letter, text, mode) for letter in letters)
    assert execute("stringsearch2", mode, "patterns", "text") == expected


def test_every_short_pattern_is_found_in_every_short_text(execute: Execute, tmp_path: Path) -> None:
    def strings(longest: int) -> list[str]:
        numbers = range(2, 2 << longest)
        return [format(n, "b")[1:].translate({48: "a", 49: "b"}) for n in numbers]

    text = "\n".join(strings(8))
    _write(tmp_path, strings(6), text)
    expected = b"".join(_expected(pattern, text, "") for pattern in strings(6))
    assert execute("stringsearch2", "-a", "all", "patterns", "text") == expected


@pytest.mark.parametrize(("ours", "theirs"), [([], []), (["-i"], ["-i"]), (["-w"], ["-w"])])
def test_the_lines_are_those_that_grep_prints(
    execute: Execute,
    tool: Callable[..., bytes],
    tmp_path: Path,
    ours: list[str],
    theirs: list[str],
) -> None:
    text = cases.prose(cases.Random(5), 30_000).decode()
    words = sorted(set(text.split()))[::60]
    _write(tmp_path, words, text)
    expected = b""
    for word in words:
        command = ["env", "LC_ALL=C", "grep", "-F", "-n", *theirs, "-e", word, "text"]
        counted = re.escape(word)
        if ours == ["-w"]:
            counted = rf"(?<![A-Za-z0-9]){counted}(?![A-Za-z0-9])"
        flags = re.IGNORECASE if ours == ["-i"] else 0
        expected += f"{word}: {len(re.findall(counted, text, flags))}\n".encode() + tool(*command)
    assert execute("stringsearch2", "-l", *ours, "patterns", "text") == expected


def test_pairs_of_letters_move_further_than_single_ones(execute: Execute, tmp_path: Path) -> None:
    text = cases.prose(cases.Random(6), 40_000).decode()
    _write(tmp_path, [text[30_000:30_020].replace("\n", " ")], text)
    lines = execute("stringsearch2", "-a", "all", "-c", "patterns", "text").decode().splitlines()
    windows = {line.split()[0]: int(line.split()[2]) for line in lines[1:]}
    assert list(windows) == ALGORITHMS
    assert windows["smith"] <= windows["horspool"]
    assert windows["berry-ravindran"] < windows["sunday"] < len(text) / 3


@pytest.mark.parametrize("pattern", ["", "x" * 129])
def test_a_pattern_of_unfit_length_is_refused(
    execute: Execute, tmp_path: Path, pattern: str
) -> None:
    _write(tmp_path, [pattern], "text")
    assert execute("stringsearch2", "patterns", "text", status=3) == b""
