# SPDX-License-Identifier: MIT
"""Options that are said to be invisible to the preprocessor change no macro of any compiler."""

import subprocess

import pytest

from compiler_gym_gcc.programs.macros import (
    change_only_compiler_macros,
    query,
    select_preprocessor_flags,
)
from compiler_gym_gcc.toolchain.spec import get_spec

from ..conftest import needed

CONTEXTS = (list[str](), ["-O2"], ["-Ofast"], ["-Os", "-ffast-math"], ["-O1", "-fexceptions"])


def macros(gcc_bin: str, words: list[str], language: str = "c") -> set[str]:
    done = subprocess.run(
        [gcc_bin, *query(language, [], words)], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("name", ["gcc-11", "gcc-12", "avr-gcc"])
def test_silent_settings_leave_the_macros_alone(name: str, language: str) -> None:
    options = get_spec(needed(name)).options
    if language == "c++" and name in ("gcc-11", "avr-gcc"):
        pytest.skip(f"{name} comes without a C++ compiler here")
    for index in (0, 1):
        silent = [option[index] for option in options if index < len(option)]
        silent = [word for word in silent if not select_preprocessor_flags([word])]
        flags = [word for word in silent if not is_refused(word)]
        assert len(flags) > 150
        for context in CONTEXTS:
            plain = macros(name, context, language)
            assert macros(name, [*context, *flags], language) == plain, (context, index)


def is_refused(word: str) -> bool:
    """Return whether a compiler refuses a setting beside others, or for want of a library."""
    return word.startswith(("--param=", "-flive-patching", "-fgraphite", "-floop-", "-fsave-"))


@pytest.mark.parametrize(
    ("word", "macro"),
    [
        ("-Os", "#define __OPTIMIZE_SIZE__ 1"),
        ("-O2", "#define __OPTIMIZE__ 1"),
        ("-ffast-math", "#define __FAST_MATH__ 1"),
        ("-fexceptions", "#define __EXCEPTIONS 1"),
        ("-ftree-parallelize-loops=4", "#define _REENTRANT 1"),
    ],
)
def test_changes_of_a_macro_are_seen(word: str, macro: str) -> None:
    assert select_preprocessor_flags(["-fgcse", word]) == (word,)
    assert macro in macros(needed("gcc-12"), [word])


def test_interference_sizes_are_known_to_the_compiler_alone() -> None:
    assert change_only_compiler_macros(["-O2", "--param=destructive-interference-size=128"])
    assert not change_only_compiler_macros(["-O2", "--param=max-unroll-times=8"])
