# SPDX-License-Identifier: MIT
"""stringsearch against Python's own search and GNU grep."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Execute, cases

ALGORITHMS = ["pratt", "boyer-moore", "galil", "turbo"]


def _places(pattern: bytes, phrase: bytes) -> list[int]:
    return [i for i in range(len(phrase)) if phrase.startswith(pattern, i)]


def _expected(pattern: bytes, phrases: list[bytes]) -> bytes:
    found = [(number, _places(pattern, phrase)) for number, phrase in enumerate(phrases)]
    flat = [f"{number + 1}:{place + 1}" for number, places in found for place in places]
    shown = (", at " + " ".join(flat[:5]) if flat else "") + (" ..." if len(flat) > 5 else "")
    hit = sum(1 for _, places in found if places)
    return pattern + f": {len(flat)} in {hit} phrases{shown}\n".encode()


def _write(folder: Path, patterns: list[bytes], phrases: list[bytes]) -> None:
    (folder / "patterns").write_bytes(b"".join(p + b"\n" for p in patterns))
    (folder / "phrases").write_bytes(b"".join(p + b"\n" for p in phrases))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("letters", [b"a", b"ab", b"abc", bytes(range(11, 256))])
def test_every_place_is_found_as_python_finds_it(
    execute: Execute, tmp_path: Path, algorithm: str, letters: bytes
) -> None:
    rng = cases.Random(len(letters))

    def draw(most: int) -> bytes:
        return bytes(rng.choice(letters) for _ in range(rng.between(1, most)))

    phrases = [draw(60) for _ in range(80)] + [b""]
    patterns = [draw(9) for _ in range(60)] + [draw(3) * 4 for _ in range(20)]
    _write(tmp_path, patterns, phrases)
    expected = b"".join(_expected(pattern, phrases) for pattern in patterns)
    assert execute("stringsearch", "-a", algorithm, "patterns", "phrases") == expected


def test_every_short_pattern_is_found_in_every_short_text(execute: Execute, tmp_path: Path) -> None:
    def strings(longest: int) -> list[bytes]:
        return [
            format(number, "b")[1:].translate({48: "a", 49: "b"}).encode()
            for number in range(2, 2 << longest)
        ]

    patterns, phrases = strings(6), strings(8)
    _write(tmp_path, patterns, phrases)
    expected = b"".join(_expected(pattern, phrases) for pattern in patterns)
    assert execute("stringsearch", "-a", "all", "patterns", "phrases") == expected


def test_as_many_phrases_hold_a_word_as_grep_counts(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    text = cases.prose(cases.Random(5), 60_000)
    words = sorted(set(text.split()))[::40]
    _write(tmp_path, words, text.splitlines())
    for line in execute("stringsearch", "patterns", "phrases").splitlines():
        found = re.match(rb"(.*): \d+ in (\d+) phrases", line)
        assert found is not None
        assert int(tool("grep", "-F", "-c", "-e", found[1].decode(), "phrases")) == int(found[2])


def test_galils_rule_keeps_a_periodic_search_linear(execute: Execute, tmp_path: Path) -> None:
    _write(tmp_path, [b"a" * 500], [b"a" * 20_000])
    lines = execute("stringsearch", "-a", "all", "-c", "patterns", "phrases").decode().splitlines()
    looks = {line.split()[0]: int(line.split()[3]) for line in lines[1:]}
    assert looks["galil"] <= 20_000
    assert looks["turbo"] <= 2 * 20_000
    assert looks["boyer-moore"] > 100 * looks["galil"]


def test_a_long_pattern_is_found_without_looking_at_most_bytes(
    execute: Execute, tmp_path: Path
) -> None:
    text = cases.prose(cases.Random(6), 50_000).replace(b"\n", b" ")
    _write(tmp_path, [text[30_000:30_040]], [text])
    lines = execute("stringsearch", "-a", "all", "-c", "patterns", "phrases").decode().splitlines()
    assert "1:30001" in lines[0]
    assert all(int(line.split()[3]) < 10_000 for line in lines[1:])


@pytest.mark.parametrize("patterns", [[b""], [b"a", b"x" * 513]])
def test_a_pattern_of_unfit_length_is_refused(
    execute: Execute, tmp_path: Path, patterns: list[bytes]
) -> None:
    _write(tmp_path, patterns, [b"text"])
    assert execute("stringsearch", "patterns", "phrases", status=3) == b""
