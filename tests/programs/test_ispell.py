# SPDX-License-Identifier: MIT
"""ispell against hunspell: the same affix file, dictionary and words must give the same verdicts.

Hunspell's own American dictionary is used where it is installed, and a small one of ours in
ISO 8859-1 for the flags that it does not have.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Execute, cases, need

AMERICAN = Path("/usr/share/hunspell/en_US")

AFFIXES = """\
SET ISO8859-1
TRY esianrtolcdugmphbyfvkwzxjq\xe9
KEY qwertyuiop|asdfghjkl|zxcvbnm
WORDCHARS -
NOSUGGEST !
FORBIDDENWORD *
KEEPCASE k
NEEDAFFIX n
ONLYINCOMPOUND c
BREAK 0
PFX R Y 1
PFX R 0 re .
PFX U Y 2
PFX U 0 un [^mp]
PFX U 0 um [mp]
PFX X N 1
PFX X 0 pre- .
SFX S Y 3
SFX S y ies [^aeiou]y
SFX S 0 s [aeiou]y
SFX S 0 s [^y]
SFX D Y 2
SFX D 0 d e
SFX D 0 ed [^e]
SFX N N 2
SFX N e ation e
SFX N 0 ation [^e]
SFX E Y 2
SFX E 0 \xe9e .
SFX E a \xe9 a
"""

ROOTS = """\
move/RUSDN
party/SXE
play/RUS
para/EX
mask/Uk
\xe9cole/S
Paris/S
NASA/S
OpenOffice/SR
secret/S!
forbid/S*
forbids
bound/Sn
inner/c
same/S
same/D
"""


@pytest.fixture
def hunspell(tool: Callable[..., bytes]) -> Callable[..., bytes]:
    need("hunspell")
    return lambda *arguments, **options: tool("hunspell", *arguments, **options)


@pytest.fixture
def american(tmp_path: Path) -> tuple[str, str]:
    need("hunspell")
    if not AMERICAN.with_suffix(".aff").exists():
        pytest.skip("needs hunspell-en-us")
    for suffix in (".aff", ".dic"):
        shutil.copy(AMERICAN.with_suffix(suffix), tmp_path / f"en{suffix}")
    return "en.aff", "en.dic"


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, str]:
    roots = f"{len(ROOTS.splitlines())}\n{ROOTS}"
    (tmp_path / "small.aff").write_bytes(AFFIXES.encode("latin-1"))
    (tmp_path / "small.dic").write_bytes(roots.encode("latin-1"))
    return "small.aff", "small.dic"


def _recased(word: str, rng: Any) -> str:
    kind = rng.below(5)
    if kind == 0:
        return word.upper()
    if kind == 1:
        return word[:1].upper() + word[1:].lower()
    if kind == 2:
        return word.lower()
    return word if kind == 3 else word[:2] + word[2:3].upper() + word[3:]


def _mistaken(word: str, rng: Any) -> str:
    at, letter = rng.below(len(word)), chr(97 + rng.below(26))
    return rng.choice(
        (
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
        )
    )


def _american_words(execute: Execute, american: tuple[str, str], step: int) -> list[str]:
    words = sorted(set(execute("ispell", "-e", *american).decode().split()))
    return [word for word in words if re.fullmatch("[A-Za-z]+", word)][::step]


@pytest.mark.slow
def test_affixes_make_the_words_that_unmunch_makes(
    execute: Execute, tool: Callable[..., bytes], american: tuple[str, str]
) -> None:
    need("unmunch", "hunspell-tools")
    affixes, dictionary = american
    ours = set(execute("ispell", "-e", affixes, dictionary).splitlines())
    assert ours == set(tool("unmunch", dictionary, affixes).splitlines())
    assert len(ours) > 100_000


@pytest.mark.parametrize("change", [str.lower, str.upper, str.capitalize, None, "mistake"])
def test_american_words_are_judged_as_hunspell_judges_them(
    execute: Execute,
    hunspell: Callable[..., bytes],
    american: tuple[str, str],
    tmp_path: Path,
    change: Any,
) -> None:
    rng = cases.Random(1)
    words = _american_words(execute, american, 19)
    if change == "mistake":
        words = [_mistaken(_recased(word, rng), rng) for word in words]
    elif change is not None:
        words = [change(word) for word in words]
    (tmp_path / "text").write_text("\n".join(words) + "\n")
    ours = execute("ispell", "-l", *american, "text").splitlines()
    assert ours == hunspell("-l", "-d", "./en", "text").splitlines()
    if change == "mistake":
        assert len(words) / 2 < len(ours) < len(words)


def test_the_root_of_a_derived_word_is_one_of_hunspells_stems(
    execute: Execute, hunspell: Callable[..., bytes], american: tuple[str, str]
) -> None:
    words = "\n".join(_american_words(execute, american, 150)) + "\n"
    answers = execute("ispell", "-a", *american, stdin=words.encode()).decode().splitlines()[1::2]
    stems = hunspell("-s", "-d", "./en", stdin=words.encode()).decode().strip().split("\n\n")
    derived = 0
    for answer, block in zip(answers, stems, strict=True):
        if answer.startswith("+ "):
            derived += 1
            assert answer[2:] in [line.split()[1] for line in block.splitlines()]
    assert derived > 200


def test_flags_are_obeyed_as_hunspell_obeys_them(
    execute: Execute, hunspell: Callable[..., bytes], small: tuple[str, str], tmp_path: Path
) -> None:
    roots = [line.split("/")[0] for line in ROOTS.splitlines()]
    prefixes = ("", "re", "un", "um", "pre-")
    suffixes = ("", "s", "ies", "d", "ed", "ation", "\xe9e", "\xe9")
    stems = {stem for root in roots for stem in (root, root[:-1])}
    plain = [p + stem + s for stem in stems for p in prefixes for s in suffixes]
    forms = (str.lower, str.upper, str.capitalize, str)
    words = sorted({form(word) for word in plain for form in forms} - {""})
    (tmp_path / "text").write_bytes("\n".join([*words, ""]).encode("latin-1"))
    ours = execute("ispell", "-l", *small, "text").splitlines()
    theirs = hunspell("-l", "-d", "./small", "-i", "ISO8859-1", "text").splitlines()
    assert ours == theirs
    assert len(ours) < len(words) - 100


def test_a_single_mistake_is_corrected(
    execute: Execute, hunspell: Callable[..., bytes], american: tuple[str, str]
) -> None:
    rng = cases.Random(3)
    intended = [w.lower() for w in _american_words(execute, american, 300) if len(w) > 6]
    written = [_mistaken(word, rng) for word in intended]
    text = "\n".join(written).encode() + b"\n"
    answers = execute("ispell", "-a", *american, stdin=text).decode().splitlines()[1::2]
    known, corrected, suggested = 0, 0, set[str]()
    for word, answer in zip(intended, answers, strict=True):
        if answer[0] in "*+":
            known += 1
        elif answer[0] == "&":
            words = answer.split(": ")[1].split(", ")
            suggested.update(words)
            corrected += word in [found.lower() for found in words]
    assert corrected > 0.97 * (len(intended) - known)
    assert len(intended) - known > 200
    assert hunspell("-l", "-d", "./en", stdin="\n".join(suggested).encode()) == b""


def test_a_distant_word_is_corrected_by_similarity(
    execute: Execute, american: tuple[str, str]
) -> None:
    meant = {
        "commitees": "committees",
        "definatelly": "definitely",
        "unneccesarily": "unnecessarily",
        "APROXIMATLY": "APPROXIMATELY",
        "Occurencies": "Occurrences",
    }
    text = "\n".join([*meant, "asdfqwerzxcv"]).encode() + b"\n"
    lines = execute("ispell", "-a", *american, stdin=text).decode().splitlines()[1::2]
    firsts = [line.split(": ")[1].split(", ")[0] for line in lines[:-1]]
    assert firsts == list(meant.values())
    assert lines[-1] == "# asdfqwerzxcv 0"


def test_commands_of_the_pipe_are_obeyed(
    execute: Execute, small: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "own").write_text("known\n")
    lines = ["known zorb Vorp", "*zorb", "&Vorp", "@lost", "^zorb vorp lost", "!", "move", "#", "q"]
    options = ("-a", "-p", "own", *small)
    output = execute("ispell", *options, stdin="\n".join(lines).encode() + b"\n").decode()
    assert output.splitlines()[1:] == [
        *("*", "# zorb 6", "# Vorp 11", ""),
        *("*", "*", "*", ""),
        *("", "# q 0", ""),
    ]
    assert (tmp_path / "own").read_text() == "known\nzorb\nvorp\n"


def test_offsets_of_words_are_hunspells(
    execute: Execute, hunspell: Callable[..., bytes], american: tuple[str, str]
) -> None:
    text = b"  The qick, brwn fox; jumpd.\n^over teh lazzy dog's bak\n"
    offsets = [
        [line.split()[1:4:2] for line in output.splitlines() if line[:1] == b"&"]
        for output in (
            execute("ispell", "-a", *american, stdin=text),
            hunspell("-a", "-d", "./en", stdin=text),
        )
    ]
    assert offsets[0] == offsets[1]
    assert len(offsets[0]) == 6


@pytest.mark.parametrize(
    "rules",
    [
        "SET KOI8-R",
        "FLAG num",
        "SFX A Y 2\nSFX A 0 s .",
        "SFX A Y 1\nSFX A 0 s/B .",
        "SFX A Y 1\nSFX A 0 s [a",
        "SFX A Y 1\nSFX B 0 s .",
    ],
)
def test_rules_that_cannot_be_followed_are_refused(
    execute: Execute, small: tuple[str, str], tmp_path: Path, rules: str
) -> None:
    (tmp_path / "bad.aff").write_text(rules + "\n")
    assert execute("ispell", "bad.aff", small[1], status=3) == b""
