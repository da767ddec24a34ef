# SPDX-License-Identifier: MIT
"""Contents change in small ways, stay bounded, and texts stay texts most of the time."""

import pytest

from compiler_gym.validation import MOST_BYTES, Draw
from compiler_gym.validation.mutation.contents import is_text, mutate_contents, mutate_number

TEXT = b"3 apples\n14 pears\nno plums\n-7 limes\n"
IMAGE = bytes(range(256)) * 4


@pytest.mark.parametrize("data", [TEXT, IMAGE, b"", b"x"], ids=["text", "image", "empty", "x"])
def test_a_seed_always_gives_the_same_and_most_seeds_a_change(data: bytes) -> None:
    changed = [mutate_contents(data, Draw(str(n)), [b"token"]) for n in range(200)]
    assert changed == [mutate_contents(data, Draw(str(n)), [b"token"]) for n in range(200)]
    assert len(set(changed)) > (2 if len(data) < 2 else 60)


def test_texts_keep_their_structure_more_often_than_not() -> None:
    changed = [mutate_contents(TEXT, Draw(str(n))) for n in range(300)]
    assert sum(map(is_text, changed)) > 200
    assert sum(text.count(b"\n") >= 3 for text in changed) > 200


def test_generated_contents_are_cut_at_the_limit() -> None:
    long = b"1 2\n" * (MOST_BYTES // 2)
    assert all(len(mutate_contents(long, Draw(str(n)))) <= MOST_BYTES for n in range(40))


def test_other_contents_and_words_are_borrowed() -> None:
    changed = [mutate_contents(IMAGE, Draw(str(n)), [b"BORROWED"]) for n in range(300)]
    assert any(b"BORROWED" in data for data in changed)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(b"n=41", {b"n=42", b"n=40", b"n=82", b"n=20", b"n=-41"}), (b"none", {b"none"})],
)
def test_a_number_gets_a_neighbour_a_multiple_or_its_opposite(
    text: bytes, wanted: set[bytes]
) -> None:
    assert wanted <= {mutate_number(text, Draw(str(n))) for n in range(300)}


def test_a_fraction_stays_a_number() -> None:
    for n in range(50):
        float(mutate_number(b"2.5", Draw(str(n))))


@pytest.mark.parametrize(
    ("data", "verdict"), [(b"", True), (b"plain", True), (b"\x89PNG", False), (b"a\0b", False)]
)
def test_a_text_is_recognised_by_its_beginning(data: bytes, *, verdict: bool) -> None:
    assert is_text(data) is verdict
