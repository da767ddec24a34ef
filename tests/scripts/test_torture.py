# SPDX-License-Identifier: MIT
"""A suite of five programs is run by drivers made here, which break some of them."""

import shutil
from pathlib import Path

import pytest

from scripts.torture import find_tests, main

pytestmark = pytest.mark.skipif(
    not (shutil.which("clang-22") and shutil.which("ld.lld-22")),
    reason="clang-22 or lld-22 is missing",
)
RUN = "/* { dg-do run } */\n"
SOURCES = {
    "gcc.dg/good.c": RUN + "int main(void) { return 0; }",
    "gcc.dg/broken.c": RUN
    + "#ifdef OURS\nint main(void) { return 4; }\n#else\nint main(void) { return 0; }\n#endif",
    "gcc.dg/theirs.c": RUN
    + "#ifdef __OPTIMIZE_SIZE__\nint main(void) { return 5; }\n#else\nint main(void) { return 0; }"
    "\n#endif",
    "gcc.dg/useless.c": RUN + "int main(void) { return 1; }",
    "gcc.dg/compiled.c": "/* { dg-do compile } */\nint main(void) { return 0; }",
    "gcc.dg/lto/two_0.c": "int other(void); int main(void) { return other(); }",
    "gcc.dg/lto/two_1.c": "int other(void) { return 0; }",
    "gcc.dg/words.c": "/* { dg-do run } */\n/* { dg-options \"-O3 -DLEFT=0 -fdump-tree-all\" } */\n"
    "int main(void) { return LEFT; }",
}  # fmt: skip
DRIVER = """#!/bin/sh
echo "compiler-gym cc: program: plan 'tried' failed; linked without it" >&2
shift 2; [ "$1" = small ] && shift
[ "$1" = --no-never-larger ] && shift; [ "$1" = --no-plugin ] && shift
exec clang-22 -Oz -DOURS "$@"
"""
TUNE = """#!/bin/sh
while [ "$1" != -- ]; do shift; done; shift
CC="clang-22 -Oz -DOURS" "$@" && mkdir -p tuned/bin && cp program tuned/bin
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache that holds the suite, with the drivers next to it."""
    for name, text in SOURCES.items():
        path = tmp_path / "cache" / "gcc" / "testsuite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, text in (("compiler-gym-cc", DRIVER), ("compiler-gym", TUNE)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path / "cache"


def run(cache: Path, *words: str) -> object:
    """Return the exit status of the script for all tests of the suite."""
    driver = str(cache.parent / "compiler-gym-cc")
    with pytest.raises(SystemExit, match=r"[01]") as ended:
        main(["gcc.dg", "--cache", str(cache), "--driver", driver, *words])
    return ended.value.code


def test_run_tests_are_found_with_their_sources_and_options(cache: Path) -> None:
    tests = {test.name: test for test in find_tests(cache / "gcc" / "testsuite", "gcc.dg")}
    assert "gcc.dg/compiled.c" not in tests
    assert [path.name for path in tests["gcc.dg/lto/two_0.c"].sources] == ["two_0.c", "two_1.c"]
    assert tests["gcc.dg/words.c"].options[1:] == ("-DLEFT=0",)


def test_a_difference_that_clang_lacks_is_ours(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cache, "--way", "policy") == 1
    said = capsys.readouterr().out
    assert "policy: 5 counted, 3 same, 2 differ: 1 ours, 1 clang's" in said
    assert "ours: gcc.dg/broken.c: exit 4" in said
    assert "clang's: gcc.dg/theirs.c: exit 5" in said
    assert "without the plan, 5: plan 'tried' failed; linked without it" in said


def test_a_second_run_only_runs_what_is_missing(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(cache, "--way", "policy")
    first = capsys.readouterr().out
    (cache.parent / "compiler-gym-cc").write_text("#!/bin/sh\nexit 1\n")
    run(cache, "--way", "policy")
    assert capsys.readouterr().out == first
    run(cache, "--way", "policy", "--fresh")
    assert "5 differ: 4 ours, 1 clang's" in capsys.readouterr().out


def test_tune_is_judged_by_the_binary_that_it_writes(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cache, "--way", "tune", "--every", "9") == 1
    assert "tune: 1 counted" in capsys.readouterr().out
    assert run(cache, "--way", "tune") == 1
    assert "ours: gcc.dg/broken.c: exit 4" in capsys.readouterr().out
