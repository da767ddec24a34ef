# SPDX-License-Identifier: MIT
"""Cases change within themselves: the same ones every time, and none that leaves its folder."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

from compiler_gym.datasets import BundledPrograms, RunCase
from compiler_gym.validation import MOST_BYTES, CaseMutator, choose_cases, is_mutable

BASE = RunCase(
    ("-n", "40", "--fast", "in.txt", "out.txt"),
    files={"in.txt": b"1 2 3\n4 5 6\n"},
    outputs=("out.txt",),
)
OTHER = RunCase(("-r", "in.txt", "out.txt"), files={"in.txt": b"other"}, outputs=("out.txt",))


def made(known: Sequence[RunCase], count: int, **options: object) -> list[RunCase]:
    mutator = CaseMutator(known, **options)  # type: ignore[arg-type]  # varied by the tests
    return [mutator.mutate(known[n % len(known)], n) for n in range(count)]


def test_the_same_seed_makes_the_same_and_another_makes_others() -> None:
    assert made([BASE, OTHER], 100) == made([BASE, OTHER], 100)
    assert made([BASE], 100, seed=1) != made([BASE], 100)


def test_arguments_and_files_both_change() -> None:
    cases = made([BASE, OTHER], 400, tokens=[b"--slow", b"7"])
    words = {word for case in cases for word in case.argv}
    assert {"41", "39", "80", "-r", "--slow"} <= words
    assert len({case.files.get("in.txt") for case in cases}) > 100
    assert any("in.txt" not in case.files for case in cases), "a missing file is an input too"


def test_a_made_case_promises_no_output_and_says_where_it_comes_from() -> None:
    (case,) = made([BASE], 1)
    assert (case.expected, case.size, case.name) == (None, "generated", "generated/0")
    assert {"in.txt", "out.txt"} <= set(case.outputs), "a changed input file is a result too"


BUNDLED = sorted(uri.rpartition("/")[2] for uri in BundledPrograms().benchmark_uris())


@pytest.mark.parametrize("name", BUNDLED)
def test_no_case_of_a_bundled_program_names_another_place(name: str) -> None:
    spec = BundledPrograms().benchmark(f"benchmark://cbench-v1/{name}").run
    assert spec is not None
    known = list(choose_cases(spec))
    own = {word for case in known for word in case.argv}
    tokens = [b"/etc/passwd", b"../up", b"-o/etc/motd", b"-x"]
    for case in made(known, 200, tokens=tokens):
        for word in (*case.argv, *case.files, *case.outputs):
            assert word in own or "/" not in word or word in spec.cases[0].files, word
            assert ".." not in PurePosixPath(word).parts
        assert all(len(held) <= max(MOST_BYTES, 1 << 20) for held in case.files.values())  # type: ignore[arg-type]
        assert not any("\0" in word for word in case.argv)


def test_a_file_on_disk_is_read_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"4 5 6\n")
    case = RunCase(files={"in": path})
    changed = {
        bytes(c.files["in"]) for c in made([case], 50) if isinstance(c.files.get("in"), bytes)
    }
    assert len(changed) > 10
    assert path.read_bytes() == b"4 5 6\n"


def test_a_file_that_is_too_long_stays_as_it_is() -> None:
    case = RunCase(("3",), files={"in": b"x" * (MOST_BYTES + 1)})
    assert all(c.files == case.files for c in made([case], 50))


@pytest.mark.parametrize(
    ("case", "verdict"),
    [(RunCase(), False), (RunCase(("1",)), True), (RunCase(stdin=b"1"), True), (BASE, True)],
)
def test_a_case_without_anything_in_it_cannot_change(case: RunCase, *, verdict: bool) -> None:
    assert is_mutable(case) is verdict
    if not verdict:
        assert made([case], 1)[0].argv == ()
