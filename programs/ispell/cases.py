# SPDX-License-Identifier: MIT
"""Inputs of ispell: made-up dictionaries with English-like affixes, texts with mistakes, pipes."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 28, "small": 4, "ref": 2}

AFFIXES = """\
# Rules in the manner of English, for made-up words.
SET ISO8859-1
TRY esianrtolcdugmphbyfvkwzxjq\xe9
KEY qwertyuiop|asdfghjkl|zxcvbnm
NOSUGGEST !
FORBIDDENWORD *
KEEPCASE k
NEEDAFFIX n
REP 4
REP f ph
REP ei ie
REP alot a_lot
REP ck k

PFX R Y 1
PFX R 0 re .
PFX U Y 2
PFX U 0 un [^mpb]
PFX U 0 um [mpb]
PFX X N 1
PFX X 0 pre- .

SFX S Y 4
SFX S y ies [^aeiou]y
SFX S 0 s [aeiou]y
SFX S 0 es [sxzh]
SFX S 0 s [^sxzhy]
SFX D Y 3
SFX D 0 d e
SFX D y ied [^aeiou]y
SFX D 0 ed [^ey]
SFX G Y 2
SFX G e ing e
SFX G 0 ing [^e]
SFX L Y 1
SFX L 0 ly .
SFX N N 2
SFX N e ation e
SFX N 0 ation [^e]
SFX E Y 2
SFX E 0 \xe9e .
SFX E a \xe9 a
"""

MALFORMED = (
    "SET KOI8-R\n",
    "FLAG long\n",
    "SFX A Y 2\nSFX A 0 s .\n",
    "SFX A Y 1\nSFX A 0 s/B .\n",
    "SFX A Y 1\nSFX A 0 s [ab\n",
    "PFX AB Y 1\nPFX AB 0 s .\n",
)
JOBS = ("-l", "-a", "-s", "-e")
WORDS = {"small": 3000, "ref": 10_000}
CORRECTED = {"small": 1000, "ref": 4500}
REPEATS = {"small": 10, "ref": 80}


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of ispell."""
    if size != "test":
        vocabulary = _vocabulary(WORDS[size], rng)
        if index % 2:
            return _case(
                AFFIXES, vocabulary, _text(vocabulary, CORRECTED[size], 12, rng), "-a", rng
            )
        # Listing is quick and correcting is slow, so the texts differ in length.
        text = _text(vocabulary, 100_000, 200, rng) * REPEATS[size]
        return _case(AFFIXES, vocabulary, text, "-l", rng)
    vocabulary = _vocabulary(rng.choice((1, 20, 200, 600)), rng)
    if index < len(MALFORMED):
        return _case(AFFIXES + MALFORMED[index], vocabulary, b"text\n", "-l", rng)
    if index == 6:
        return Case({"a": AFFIXES.encode("latin-1"), "d": b"words\nword\n"}, ("a", "d"))
    text = _text(vocabulary, rng.choice((0, 100, 2000)), 6, rng)
    if index % 7 == 0:
        return _session(vocabulary, text, rng)
    return _case(AFFIXES, vocabulary, text, JOBS[index % 4], rng)


def _case(affixes: str, vocabulary: list[str], text: bytes, job: str, rng: Random) -> Case:
    files = {
        "words.aff": affixes.encode("latin-1"),
        "words.dic": _dictionary(vocabulary, rng),
        "text": text,
    }
    return Case(files, (job, "words.aff", "words.dic", "text"))


def _session(vocabulary: list[str], text: bytes, rng: Random) -> Case:
    """Return a dialogue through the pipe, with commands among the lines."""
    commands = ["*zorblat", "&Quixly", "@vorp", "!", "%", "^*zorblat vorp quixly", "~x", "#"]
    lines = ["zorblat Quixly vorp"]
    for line in text.decode("latin-1").splitlines():
        lines += [line, rng.choice(commands)]
    lines += commands
    files = {
        "words.aff": AFFIXES.encode("latin-1"),
        "words.dic": _dictionary(vocabulary, rng),
        "own": b"glimmerish\n",
    }
    arguments = ("-a", "-p", "own", "words.aff", "words.dic")
    stdin = ("\n".join(lines) + "\n").encode("latin-1")
    return Case(files, arguments, stdin=stdin, outputs=("own",))


def _vocabulary(count: int, rng: Random) -> list[str]:
    text = prose(rng, min(count * 40, 80_000)).decode()
    found = sorted({"".join(filter(str.isalpha, word)).lower() for word in text.split()} - {""})
    rng.shuffle(found)
    syllables = [word for word in found if len(word) <= 5] or found
    seen = set(found)
    while len(found) < count:
        word = f"{rng.choice(syllables)}{rng.choice(syllables)}"
        if word not in seen or len(word) > 12:
            seen.add(word)
            found.append(word)
        syllables.append(rng.choice(found)[:5])
    return found[:count]


def _dictionary(vocabulary: list[str], rng: Random) -> bytes:
    lines = [str(len(vocabulary))]
    for word in vocabulary:
        shown = word
        if rng.chance(1, 15):
            shown = rng.choice((word.capitalize(), word.upper(), word[:2] + word[2:].capitalize()))
        flags = "".join(flag for flag in "RUXSDGLNE" if rng.chance(1, 4))
        if rng.chance(1, 20):
            flags += rng.choice("!*kn")
        lines.append(f"{shown}/{flags}" if flags else shown)
    return ("\n".join(lines) + "\n").encode("latin-1")


def _text(vocabulary: list[str], length: int, mistakes: int, rng: Random) -> bytes:
    """Return prose of the vocabulary, its derivations and one mistake in `mistakes` words."""
    pieces: list[str] = []
    size = 0
    while size < length:
        word = rng.choice(vocabulary)
        if rng.chance(1, 3):
            word += rng.choice(("s", "ed", "ing", "ly", "d", "es", "'s", "\xe9e"))
        if rng.chance(1, 10):
            word = rng.choice(("re", "un", "um", "pre-")) + word
        if rng.chance(1, mistakes):
            word = _mistake(word, rng)
        if rng.chance(1, 9):
            word = rng.choice((word.capitalize(), word.upper(), str(rng.below(2000))))
        pieces.append(word + ("\n" if rng.chance(1, 12) else rng.choice((" ", " ", ", ", ". "))))
        size += len(pieces[-1])
    return "".join(pieces).encode("latin-1")


def _mistake(word: str, rng: Random) -> str:
    at = rng.below(len(word))
    letter = chr(97 + rng.below(26))
    kind = rng.below(6)
    if kind == 0:
        return word[:at] + letter + word[at:]
    if kind == 1:
        return word[:at] + letter + word[at + 1 :]
    if kind == 2:
        return word[:at] + word[at + 1 :] + "q"
    if kind == 3:
        return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
    if kind == 4:
        return word[: at + 2] + word[at:]
    return word[::-1] if len(word) > 3 else letter * 3
