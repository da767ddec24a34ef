# SPDX-License-Identifier: MIT
import pickle
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.datasets import BenchmarkUri, Dataset
from compiler_gym.errors import DatasetInitError, UnknownNameError
from tests.datasets.conftest import Numbers, Words


def test_a_dataset_returns_its_arguments() -> None:
    dataset = Words(
        "generator://words-v3",
        ["a"],
        references={"paper": "https://example.org"},
        validatable="Partially",
        sort_order=2,
    )
    assert (dataset.name, dataset.scheme, dataset.protocol) == (
        "generator://words-v3",
        "generator",
        "generator",
    )
    assert (dataset.version, dataset.license, dataset.description) == (3, "MIT", "Words")
    assert dataset.references == {"paper": "https://example.org"}
    assert (dataset.validatable, dataset.sort_order, len(dataset)) == ("Partially", 2, 1)
    assert not dataset.deprecated
    assert dataset.installed
    assert repr(dataset) == "generator://words-v3"


@pytest.mark.parametrize("name", ["words-v0/a", "words-v0?x=1", "words-v0#x"])
def test_the_address_of_a_program_is_not_the_name_of_a_dataset(name: str) -> None:
    with pytest.raises(DatasetInitError, match="is not a dataset name"):
        Words(name, [])


class Unsized(Words):
    """As many datasets of users are: it lists its programs, and says nothing else."""

    @property
    def size(self) -> int:
        return 0


def test_a_dataset_that_says_no_size_draws_from_its_programs() -> None:
    dataset = Unsized("unsized-v0", ["a", "b", "c"])
    drawn = {str(dataset.random_benchmark(np.random.default_rng(seed))) for seed in range(20)}
    assert drawn == {f"benchmark://unsized-v0/{word}" for word in "abc"}
    with pytest.raises(UnknownNameError, match="no programs to choose from"):
        Unsized("unsized-v0", []).random_benchmark()


def test_a_program_is_found_by_address_by_name_and_by_number() -> None:
    words = Words("words-v0", ["a", "b/c"])
    for key in ("benchmark://words-v0/b/c", "words-v0/b/c", "b/c", "/b/c", 1):
        assert words[key].contents == b"b/c"
    assert words[BenchmarkUri.from_string("words-v0/a")].contents == b"a"
    assert "a" in words
    assert "z" not in words
    assert words["a"] in words
    with pytest.raises(UnknownNameError, match="no program"):
        words["z"]
    with pytest.raises(UnknownNameError, match="no program number 2"):
        words[2]
    with pytest.raises(UnknownNameError, match="is not in benchmark://words-v0"):
        words.benchmark("other-v0/a")


def test_the_query_does_not_select_the_program_and_is_kept() -> None:
    words = Words("words-v0", ["a"])
    program = words.benchmark("words-v0/a?goal=speed#x")
    assert str(program.uri) == "benchmark://words-v0/a?goal=speed#x"
    assert program.contents == b"a"


def test_iterating_reads_no_more_than_it_yields() -> None:
    words = Words("words-v0", ["a", "b", "c"])
    iterator = iter(words)
    next(iterator)
    assert words.read == ["a"]


def test_a_seeded_choice_repeats_itself() -> None:
    words = Words("words-v0", [str(number) for number in range(100)])
    numbers = Numbers("numbers-v0")
    for dataset in (words, numbers):
        draws = [
            [str(dataset.random_benchmark(generator)) for _ in range(20)]
            for generator in (np.random.default_rng(1), np.random.default_rng(1))
        ]
        assert draws[0] == draws[1]
        assert len(set(draws[0])) > 10
    assert str(words.random_benchmark()).startswith("benchmark://words-v0/")


def test_an_endless_dataset_is_true_and_has_size_zero() -> None:
    numbers = Numbers("numbers-v0")
    assert (numbers.size, len(numbers), bool(numbers)) == (0, 0, True)
    assert numbers[10**12].contents == b"/1000000000000"


def test_a_deprecated_dataset_is_hidden_and_warns_once() -> None:
    words = Words("words-v0", ["a"], deprecated="use words-v1")
    assert words.hidden
    with pytest.warns(DeprecationWarning, match="words-v0 is deprecated: use words-v1"):
        words.install()
    words.install()


def test_site_data_is_counted_and_removed(tmp_path: Path) -> None:
    words = Words("words-v0", ["a"], site_data_base=tmp_path)
    assert words.site_data_path == tmp_path / "benchmark/words-v0"
    assert words.site_data_size_in_bytes == 0
    words.site_data_path.mkdir(parents=True)
    (words.site_data_path / "x").write_bytes(b"12345")
    assert words.site_data_size_in_bytes == 5
    words.uninstall()
    words.uninstall()
    assert not words.site_data_path.exists()
    with pytest.raises(DatasetInitError, match="without a site_data_base"):
        _ = Words("words-v0", []).site_data_path


def test_datasets_are_ordered_by_their_number_then_by_name() -> None:
    order = sorted([Words("b-v0", []), Words("c-v0", [], sort_order=-1), Words("a-v0", [])])
    assert [str(dataset) for dataset in order] == [
        "benchmark://c-v0",
        "benchmark://a-v0",
        "benchmark://b-v0",
    ]


def test_a_dataset_can_be_pickled() -> None:
    words = pickle.loads(pickle.dumps(Words("words-v0", ["a"])))
    assert words["a"].contents == b"a"


def test_a_dataset_is_made_by_hand_and_compared() -> None:
    one = Dataset(name="benchmark://a-v0", description="Nothing", license="MIT")
    same = Dataset(name="a-v0", description="The same", license="none")
    other = Dataset(name="benchmark://b-v0", description="Nothing", license="MIT")
    assert one == same == "benchmark://a-v0"
    assert one != other
    assert one != "benchmark://b-v0"
    assert one < other
    assert one <= other
    assert one <= same
    assert other > one
    assert other >= one
    assert one < "benchmark://b-v0"
    assert one <= "benchmark://a-v0"
    assert other > "benchmark://a-v0"
    assert sorted([other, one]) == [one, other]
    assert (one.size, one.version, one.references, one.deprecated) == (0, 0, {}, False)
    with pytest.raises(NotImplementedError, match=r"Dataset defines no benchmark_uris\(\)"):
        next(iter(one.benchmark_uris()))
    with pytest.raises(NotImplementedError, match="defines no benchmark_from_parsed_uri"):
        one.benchmark("a-v0/x")


def test_a_relative_folder_of_files_is_that_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dataset = Dataset("a-v0", site_data_base="files")
    monkeypatch.chdir("/")
    assert dataset.site_data_path == tmp_path / "files" / "benchmark" / "a-v0"
