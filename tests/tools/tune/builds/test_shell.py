# SPDX-License-Identifier: MIT
"""A shell reads what was meant."""

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.tools.tune.builds import shell_text

TEXTS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=8)


@given(st.lists(st.lists(st.one_of(TEXTS, st.sampled_from(["/the/tree", "/out"])), max_size=4)))
def test_variables_stand_for_their_folders(parts: list[list[str]]) -> None:
    words = ["".join(pieces) for pieces in parts]
    command = shell_text(["printf", r"%s\0", *words], {"/the/tree": "ROOT", "/out": "OUT"})
    text = f'ROOT="/the/tree"; OUT=/out; {command}'
    printed = subprocess.run(["sh", "-c", text], capture_output=True, check=True).stdout
    assert printed.decode() == "".join(f"{word}\0" for word in words or [""])


def test_longer_names_are_not_cut() -> None:
    assert shell_text(["/a", "/ab", "/a/b"], {"/a": "A", "/a/b": "B"}) == '"$A" /ab "$B"'
