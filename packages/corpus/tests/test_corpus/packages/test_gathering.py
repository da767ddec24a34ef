# SPDX-License-Identifier: MIT
"""A folder of built packages becomes one file, the same bytes whenever it is gathered."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.datasets import NO_SPLIT, CorpusDataset, split_of_package
from compiler_gym.datasets.splits import SMALLEST
from compiler_gym.errors import DatasetInitError, UnknownNameError
from compiler_gym_corpus.collections.corpus_writer import CorpusWriter
from compiler_gym_corpus.packages import (
    GatherReport,
    OwnTests,
    gather,
    holds_packages,
    write_result,
)
from test_corpus.packages.built import Functions, shapes, text_of, write_package

TRAIN, TEST, VALIDATION = "zlib", "expat", "cmatrix"
BIG = SMALLEST


def gathered(folder: Path, output: Path) -> GatherReport:
    return gather(folder, output, name="debian-v0", shapes=shapes, license="each its own")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three packages: the first two share functions 1 and 2, of which the second is small."""
    folder = tmp_path / "built"
    write_package(
        folder,
        TRAIN,
        {
            "a.c": text_of([(10, BIG)]),
            "shared.c": text_of([(1, BIG), (11, BIG)], "in zlib"),
            "small.c": text_of([(2, BIG - 1), (12, BIG)], "in zlib"),
            "copy.c": text_of([(3, 1)]),
        },
        programs={"bin/tool": (text_of([(10, BIG), (3, 1)]), ["a.c", "copy.c"])},
        license="Zlib",
    )
    write_package(
        folder,
        TEST,
        {
            "lib/shared.c": text_of([(1, BIG), (20, BIG)]),
            "small.c": text_of([(2, BIG - 1), (21, BIG)]),
            "same.c": text_of([(3, 1)]),
        },
    )
    write_package(folder, VALIDATION, {"v.c": text_of([(30, BIG)])})
    return folder


def test_every_module_is_there_with_all_its_facts(folder: Path, tmp_path: Path) -> None:
    done = gathered(folder, tmp_path / "corpus.sqlite")
    assert (done.packages, done.modules, done.programs, done.duplicates) == (3, 7, 1, 1)
    corpus = CorpusDataset(done.path)
    assert corpus.name == "benchmark://debian-v0"
    assert corpus[f"{TRAIN}/a.c"].contents == text_of([(10, BIG)])
    facts = corpus.facts(f"debian-v0/{TRAIN}/a.c")
    assert (facts.kinds, facts.split, facts.instructions, facts.functions) == (
        ("module",), "train", 100, 2,
    )  # fmt: skip
    (place,) = facts.places
    assert (place.package, place.version, place.file) == (TRAIN, "1.0", "a.c")
    assert place.command == ("cc", "-c", "a.c")
    assert facts.programs == (f"{TRAIN}/bin/tool",)
    program = corpus.program(f"debian-v0/{TRAIN}/a.c")
    assert (program.license, program.source, program.language) == ("Zlib", "zlib=1.0", "c")
    whole = corpus.facts(f"debian-v0/{TRAIN}/bin/tool")
    assert whole.kinds == ("program",)
    assert set(whole.modules) == {f"{TRAIN}/a.c", f"{TEST}/same.c"}
    assert corpus.functions(f"debian-v0/{TRAIN}/a.c")[0].shape == 10
    assert [package.name for package in corpus.packages()] == sorted((TRAIN, TEST, VALIDATION))
    assert corpus.verify() == []


def test_equal_bytes_are_one_program_with_several_places(folder: Path, tmp_path: Path) -> None:
    corpus = CorpusDataset(gathered(folder, tmp_path / "corpus.sqlite").path)
    one, other = (f"debian-v0/{TEST}/same.c", f"debian-v0/{TRAIN}/copy.c")
    assert corpus.program(one) == corpus.program(other)
    facts = corpus.facts(other)
    assert facts == corpus.facts(one)
    assert {place.package for place in facts.places} == {TEST, TRAIN}
    assert facts.split == "test"


def test_packages_that_share_a_function_with_a_test_package_are_in_no_split(
    folder: Path, tmp_path: Path
) -> None:
    corpus = CorpusDataset(gathered(folder, tmp_path / "corpus.sqlite").path)
    split = {key: corpus.facts(f"debian-v0/{key}").split for key in (
        f"{TRAIN}/a.c", f"{TRAIN}/shared.c", f"{TRAIN}/small.c", f"{TEST}/lib/shared.c",
        f"{VALIDATION}/v.c",
    )}  # fmt: skip
    assert list(split.values()) == ["train", NO_SPLIT, "train", "test", "validation"]


def test_a_split_is_read_as_a_dataset_is(folder: Path, tmp_path: Path) -> None:
    corpus = CorpusDataset(gathered(folder, tmp_path / "corpus.sqlite").path)
    train = corpus.split("train")
    uris = list(train.benchmark_uris())
    assert len(uris) == train.size == 3
    assert [str(program) for program in train] == uris == [str(train[n]) for n in range(3)]
    assert train.random_benchmark().uri in uris
    assert list(corpus.split("train", "program").benchmark_uris()) == [
        f"benchmark://debian-v0/{TRAIN}/bin/tool"
    ]
    assert corpus.of_kind("module").size == 7
    assert train[f"{VALIDATION}/v.c"] == corpus[f"{VALIDATION}/v.c"]
    with pytest.raises(UnknownNameError, match="no program number 3"):
        train[3]
    with pytest.raises(UnknownNameError, match=r"no split 'tests': .*test"):
        corpus.split("tests")
    with pytest.raises(UnknownNameError, match="no kind of program 'modul'"):
        corpus.split("test", "modul")


def test_the_same_packages_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first = gathered(folder, tmp_path / "1/corpus.sqlite").path.read_bytes()
    again = tmp_path / "2/corpus.sqlite"
    gathered(folder, again)
    assert again.read_bytes() == first
    gathered(folder, again)  # over what is there
    assert again.read_bytes() == first
    assert [path.name for path in again.parent.iterdir()] == ["corpus.sqlite"]


def test_a_package_that_is_added_moves_nothing_into_train(folder: Path, tmp_path: Path) -> None:
    before = CorpusDataset(gathered(folder, tmp_path / "1.sqlite").path)
    write_package(folder, "added", {"a.c": text_of([(11, BIG)])})
    after = CorpusDataset(gathered(folder, tmp_path / "2.sqlite").path)
    for uri in before.benchmark_uris():
        assert after.facts(uri).split in (before.facts(uri).split, NO_SPLIT)
        assert after.program(uri) == before.program(uri)


def test_a_program_that_its_package_tests_says_how(folder: Path, tmp_path: Path) -> None:
    result = write_package(
        folder,
        "tested",
        {"t.c": text_of([(40, BIG)])},
        programs={"src/t": (text_of([(40, BIG)]), ["t.c"])},
        test_command=("make", "check"),
        test_folder="src",
    )
    (program,) = result.programs
    passed = replace(program, tests=OwnTests.PASSED, tree="tree.tar.zst")
    write_result(folder / "packages/tested_1.0", replace(result, programs=(passed,)))
    done = gathered(folder, tmp_path / "corpus.sqlite")
    assert done.tested == 1
    facts = CorpusDataset(done.path).facts("debian-v0/tested/src/t")
    assert facts.kinds == ("module", "program")  # it is linked of one module
    assert facts.test is not None
    assert (facts.test.package, facts.test.file, facts.test.folder) == ("tested", "src/t", "src")
    assert (facts.test.command, facts.test.libraries) == (("make", "check"), ("-lm",))
    assert facts.test.language == "c"
    assert facts.test.tree == "packages/tested_1.0/tree.tar.zst"


def test_a_folder_that_is_none_of_packages_or_is_damaged_reports_it(
    folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "corpus.sqlite"
    (tmp_path / "empty/packages").mkdir(parents=True)
    assert holds_packages(folder)
    assert not holds_packages(tmp_path)
    with pytest.raises(DatasetInitError, match="contains no built packages"):
        gathered(tmp_path, output)
    with pytest.raises(DatasetInitError, match=r"no package in .* has programs"):
        gathered(tmp_path / "empty", output)
    write_package(folder, TRAIN, {"a.c": text_of([])}, version="2.0")
    with pytest.raises(DatasetInitError, match=r"zlib in two versions, 1\.0 and 2\.0"):
        gathered(folder, output)
    (folder / f"packages/{TRAIN}_2.0/result.json").unlink()
    module = next((folder / f"packages/{TEST}_1.0/modules").iterdir())
    module.write_bytes(text_of([]))
    with pytest.raises(DatasetInitError, match=r"was altered; build .* again"):
        gathered(folder, output)
    assert not output.exists()


def test_a_corpus_that_was_imported_has_no_splits(tmp_path: Path) -> None:
    path = tmp_path / "corpus.sqlite"
    with CorpusWriter(path, name="c-v0") as writer:
        writer.add("a.c", b"a")
    with pytest.raises(DatasetInitError, match="has no splits and no kinds; use a dataset"):
        CorpusDataset(path).split("train")
    with pytest.raises(
        DatasetInitError, match=r"no facts are recorded about benchmark://c-v0/a\.c"
    ):
        CorpusDataset(path).facts("c-v0/a.c")
    with closing(sqlite3.connect(path)) as sql:  # as earlier versions wrote them
        sql.executescript("DROP TABLE fact; DROP TABLE test; DROP TABLE place; DROP TABLE package")
    assert CorpusDataset(path)["a.c"].contents == b"a"
    assert CorpusDataset(path).packages() == []


FUNCTIONS = st.lists(st.tuples(st.integers(0, 20), st.integers(BIG - 1, BIG)), max_size=3)


@settings(max_examples=10, deadline=None)
@given(st.dictionaries(st.sampled_from([f"p{n}" for n in range(12)]),
                       st.lists(FUNCTIONS, min_size=1, max_size=3), min_size=1))  # fmt: skip
def test_no_function_of_a_test_package_has_a_near_duplicate_in_train(
    tmp_path_factory: pytest.TempPathFactory, packages: dict[str, list[Functions]]
) -> None:
    folder = tmp_path_factory.mktemp("built")
    for name, modules in packages.items():
        write_package(
            folder, name, {f"{n}.c": text_of(m, f"{name}{n}") for n, m in enumerate(modules)}
        )
    corpus = CorpusDataset(gathered(folder, folder / "corpus.sqlite").path)
    tested = {p.name for p in corpus.packages() if split_of_package(p.name) == "test"}
    judged = {
        function.shape
        for uri in corpus.benchmark_uris()
        if any(place.package in tested for place in corpus.facts(uri).places)
        for function in corpus.functions(uri)
        if function.counts
    }
    for uri in corpus.split("train").benchmark_uris():
        assert not judged & {f.shape for f in corpus.functions(uri) if f.counts}
