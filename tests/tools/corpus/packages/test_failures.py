"""A log says why a build failed: the class, and the line."""

import pytest

from compiler_gym.tools.corpus.packages import Outcome
from compiler_gym.tools.corpus.packages.failures import explained, last_lines

MAKE = "\nmake[1]: *** [Makefile:3: x.o] Error 1\nmake: *** [debian/rules:4: build] Error 2\n"


@pytest.mark.parametrize(
    ("outcome", "log"),
    [
        (Outcome.COMPILER, f"x.c:3:10: fatal error: gtk.h: No such file or directory{MAKE}"),
        (Outcome.COMPILER, f"/usr/bin/ld: a.o: undefined reference to `f'{MAKE}"),
        (Outcome.CONFIGURE, f"configure: error: zlib is missing{MAKE}"),
        (Outcome.CONFIGURE, f"CMake Error at CMakeLists.txt:3 (find_package):{MAKE}"),
        (Outcome.CONFIGURE, f"meson.build:3:0: ERROR: Dependency x not found{MAKE}"),
        (Outcome.CONFIGURE, f"autoreconf: error: aclocal failed with exit status: 2{MAKE}"),
        (Outcome.NO_DEPENDENCY, f"/bin/sh: 1: xmlto: not found{MAKE}"),
        (Outcome.NO_DEPENDENCY, f"make: docbook: No such file or directory{MAKE}"),
        (Outcome.NO_DEPENDENCY, f"ModuleNotFoundError: No module named 'yaml'{MAKE}"),
        (Outcome.DISK, f"cp: error writing 'x': No space left on device{MAKE}"),
        (Outcome.MEMORY, f"cc1plus: out of memory allocating 65536 bytes{MAKE}"),
        (Outcome.PROCESSES, f"sh: 0: Cannot fork{MAKE}"),
        (Outcome.RULES, MAKE),
        (Outcome.UNEXPLAINED, "it is over"),
        (Outcome.UNEXPLAINED, ""),
    ],
)
def test_the_class_of_a_failure_is_told_by_its_log(outcome: Outcome, log: str) -> None:
    found, reason = explained(log)

    assert found is outcome
    assert reason


def test_an_error_that_was_survived_is_not_the_reason() -> None:
    survived = "conftest.c:3:10: fatal error: x.h: No such file or directory\n"

    found, reason = explained(survived + "fine\n" * 100 + "configure: error: no y\n")

    assert (found, reason) == (Outcome.CONFIGURE, "configure: error: no y")


def test_what_is_shown_of_a_log_cannot_act_on_a_terminal() -> None:
    shown = last_lines("first\n" * 50 + "\x1b[31mred\x1b[0m\x07\r\nlast\n\n")

    assert shown.splitlines()[-2:] == ["red", "last"]
    assert len(shown.splitlines()) == 20
