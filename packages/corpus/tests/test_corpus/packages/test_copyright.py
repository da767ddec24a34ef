"""The licence of a file is that of the last paragraph which names it."""

import pytest

from compiler_gym_corpus.packages import Licences, paragraphs

TEXT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: x

Files: *
Copyright: 2020 A
License: GPL-2+
 Text of it.

Files: lib/*.c
 include/a?.h
License: BSD-3-clause

Files: debian/*
License: MIT

License: MIT
 Text.
"""


@pytest.mark.parametrize(
    ("file", "licence"),
    [
        ("main.c", "GPL-2+"),
        ("lib/deep/a.c", "BSD-3-clause"),
        ("include/ab.h", "BSD-3-clause"),
        ("include/abc.h", "GPL-2+"),
    ],
)
def test_patterns_name_files_as_the_format_says(file: str, licence: str) -> None:
    assert Licences.read(TEXT).of(file) == licence


def test_the_whole_leaves_out_the_packaging() -> None:
    assert Licences.read(TEXT).whole == "GPL-2+ and BSD-3-clause"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("free, see /usr/share/common-licenses/GPL-2.", "GPL-2"),
        ("see /usr/share/common-licenses/GPL-2 or /usr/share/common-licenses/BSD", ""),
        ("do what you like", ""),
    ],
)
def test_of_other_texts_one_common_licence_is_taken(text: str, licence: str) -> None:
    assert Licences.read(text).of("a.c") == licence


def test_paragraphs_keep_the_lines_of_a_field() -> None:
    assert list(paragraphs("A: 1\n# no\nB-c:\n x\n y\n\nA: 2")) == [
        {"A": "1", "B-c": "\nx\ny"},
        {"A": "2"},
    ]
