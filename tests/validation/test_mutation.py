# SPDX-License-Identifier: MIT
"""Mutated cases and contents, and the decisions behind them."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

from compiler_gym.datasets import BundledPrograms, RunCase
from compiler_gym.validation import MOST_BYTES, CaseMutator, Draw, choose_cases, is_mutable
from compiler_gym.validation.mutation import is_text, mutate_contents, mutate_number


def test_a_seed_always_draws_the_same_numbers() -> None:
    draw = Draw("17 3")
    assert [draw.below(1000) for _ in range(6)] == [87, 590, 187, 705, 758, 736]


@pytest.mark.parametrize("length", [0, 1, 5, 1000])
def test_a_span_lies_inside_and_is_no_longer_than_asked(length: int) -> None:
    draw = Draw("spans")
    spans = [draw.span(length, 16) for _ in range(200)]
    assert all(0 <= start <= end <= length and end - start <= 16 for start, end in spans)
    assert length < 2 or len(set(spans)) > 2


def test_a_choice_is_one_of_the_items_and_reaches_all() -> None:
    draw = Draw("choices")
    assert {draw.choice("abc") for _ in range(50)} == set("abc")


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
