# SPDX-License-Identifier: MIT
"""Strings are found by their uses, and merged as a linker merges them."""

from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.tools.sizes.strings import list_strings, measure_merged

from .conftest import BUILDS, Build, analyse

WORDS = st.lists(st.text("ab", max_size=4).map(str.encode))


def test_strings_are_those_that_the_program_uses(build: Build) -> None:
    source = """
        extern int puts(const char *);
        const char array[] = "an array is not merged";
        const char *const words[] = {"first word", "second word"};
        int main(int n, char **w) { puts(array + n); puts("a third word"); return puts(words[n]); }
    """
    strings = list_strings(analyse(build(source, "clang-22 -O1 -fuse-ld=lld")))
    assert {b"first word", b"second word", b"a third word"} <= set(strings)
    assert not [text for text in strings if b"array" in text]
    assert list_strings(analyse(build(*BUILDS["riscv64"]))) == []


@given(WORDS)
def test_every_removed_string_is_the_end_of_a_remaining_one(words: list[bytes]) -> None:
    left = {word for word in words if not any(o != word and o.endswith(word) for o in words)}
    assert measure_merged(words) == sum(len(word) + 1 for word in left)
