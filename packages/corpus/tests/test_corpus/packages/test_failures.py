"""A log says why a build failed: the class, and the line."""

import pytest

from compiler_gym_corpus.packages import BuildOutcome
from compiler_gym_corpus.packages.failures import explain_log, last_lines

MAKE = "\nmake[1]: *** [Makefile:3: x.o] Error 1\nmake: *** [debian/rules:4: build] Error 2\n"


@pytest.mark.parametrize(
    ("outcome", "log"),
    [
        (BuildOutcome.COMPILER, f"x.c:3:10: fatal error: gtk.h: No such file or directory{MAKE}"),
        (BuildOutcome.COMPILER, f"/usr/bin/ld: a.o: undefined reference to `f'{MAKE}"),
        (BuildOutcome.CONFIGURE, f"configure: error: zlib is missing{MAKE}"),
        (BuildOutcome.CONFIGURE, f"CMake Error at CMakeLists.txt:3 (find_package):{MAKE}"),
        (BuildOutcome.CONFIGURE, f"meson.build:3:0: ERROR: Dependency x not found{MAKE}"),
        (BuildOutcome.CONFIGURE, f"autoreconf: error: aclocal failed with exit status: 2{MAKE}"),
        (BuildOutcome.NO_DEPENDENCY, f"/bin/sh: 1: xmlto: not found{MAKE}"),
        (BuildOutcome.NO_DEPENDENCY, f"make: docbook: No such file or directory{MAKE}"),
        (BuildOutcome.NO_DEPENDENCY, f"ModuleNotFoundError: No module named 'yaml'{MAKE}"),
        (BuildOutcome.DISK, f"cp: error writing 'x': No space left on device{MAKE}"),
        (BuildOutcome.MEMORY, f"cc1plus: out of memory allocating 65536 bytes{MAKE}"),
        (BuildOutcome.PROCESSES, f"sh: 0: Cannot fork{MAKE}"),
        (BuildOutcome.RULES, MAKE),
        (BuildOutcome.UNEXPLAINED, "it is over"),
        (BuildOutcome.UNEXPLAINED, ""),
    ],
)
def test_the_class_of_a_failure_is_recognised_by_its_log(outcome: BuildOutcome, log: str) -> None:
    found, reason = explain_log(log)

    assert found is outcome
    assert reason


def test_an_error_that_was_survived_is_not_the_reason() -> None:
    survived = "conftest.c:3:10: fatal error: x.h: No such file or directory\n"

    found, reason = explain_log(survived + "fine\n" * 100 + "configure: error: no y\n")

    assert (found, reason) == (BuildOutcome.CONFIGURE, "configure: error: no y")


def test_shown_parts_of_a_log_cannot_control_a_terminal() -> None:
    shown = last_lines("first\n" * 50 + "\x1b[31mred\x1b[0m\x07\r\nlast\n\n")

    assert shown.splitlines()[-2:] == ["red", "last"]
    assert len(shown.splitlines()) == 20
