# SPDX-License-Identifier: MIT
import itertools
import pickle
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from compiler_gym.datasets import Benchmark, BenchmarkUri, Datasets
from compiler_gym.errors import BenchmarkInitError, InvalidParameterError, UnknownNameError
from tests.datasets.conftest import Numbers, Words


class FileScheme(Words):
    """Claims every address of the scheme ``file``."""

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        return Benchmark(uri, uri.path.encode())


class Absent(Words):
    @property
    def installed(self) -> bool:
        return False


@pytest.fixture
def datasets() -> Datasets:
    return Datasets(
        [
            Words("words-v1", ["a", "b", "c"]),
            Words("few-v0", ["x"], sort_order=-1),
            Numbers("generator://numbers-v0", sort_order=1),
            Words("old-v0", ["o"], deprecated="use few-v0"),
        ]
    )


def test_datasets_are_listed_in_order_without_the_hidden_ones(datasets: Datasets) -> None:
    names = ["benchmark://few-v0", "benchmark://words-v1", "generator://numbers-v0"]
    assert [dataset.name for dataset in datasets] == names
    assert len(datasets) == datasets.size == 3
    assert [d.name for d in datasets.datasets(with_deprecated=True)][1] == "benchmark://old-v0"


def test_a_dataset_is_found_by_name_with_or_without_its_scheme(datasets: Datasets) -> None:
    assert datasets["words-v1"] is datasets["benchmark://words-v1"]
    assert datasets["generator://numbers-v0"].scheme == "generator"
    assert datasets["old-v0"].deprecated
    assert "words-v1" in datasets
    assert "generator://numbers-v0" in datasets
    assert "words-v9" not in datasets
    assert datasets["few-v0"] in datasets


def test_an_unknown_name_lists_close_matches(datasets: Datasets) -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean benchmark://words-v1\?"):
        datasets["word-v1"]
    with pytest.raises(UnknownNameError, match=r"did you mean generator://numbers-v0\?"):
        datasets.benchmark("numbers-v0/1")
    datasets.add(Words("npb-llvm10-v0", ["x"]))
    datasets.add(Words("npd-v0", ["x"]))
    with pytest.raises(UnknownNameError, match=r"did you mean benchmark://npb-llvm10-v0\?"):
        datasets.benchmark("npb-v0/1")
    datasets.add(Words("modules-v0", ["library/reader", "library/sources/main"]))
    datasets.add(Words("programs-v0", ["readers", "qsort"]))
    with pytest.raises(UnknownNameError, match=r"did you mean programs-v0/readers\?"):
        datasets.benchmark("reader")  # not the module, which is a file of a package
    with pytest.raises(LookupError, match="'benchmark://main': known: "):
        datasets.benchmark("main")
    with pytest.raises(LookupError, match="known: benchmark://few-v0"):
        datasets.benchmark("zzzzz://qqqqqqqqqqqqqqqqq/1")


class Reading(Words):
    uri_keys = ("part",)


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        (
            "few-v0/a?gaol=speed",
            "unknown key 'gaol' in benchmark://few-v0/a?gaol=speed: did you mean goal?",
        ),
        (
            "few-v0/a?goal=x&xyzzy=1",
            "unknown key 'xyzzy' in benchmark://few-v0/a?goal=x&xyzzy=1: known keys: goal",
        ),
        ("few-v0/a?part=1", "unknown key 'part'"),
        ("reading-v0/a?parts=1", "did you mean part?"),
    ],
)
def test_a_key_that_nothing_reads_is_refused(uri: str, says: str) -> None:
    datasets = Datasets([Words("few-v0", ["a"]), Reading("reading-v0", ["a"])], ["goal"])
    for known in (datasets, datasets.copy()):
        with pytest.raises(BenchmarkInitError, match=re.escape(says)):
            known.benchmark(uri)
        assert known.benchmark("reading-v0/a?goal=size&part=2")
    assert Datasets([Words("few-v0", ["a"])]).benchmark("few-v0/a?anything=goes")
    with pytest.raises(BenchmarkInitError, match="it takes no keys"):
        Datasets([Words("few-v0", ["a"])], ()).benchmark("few-v0/a?goal=size")


def test_a_program_keeps_its_query(datasets: Datasets) -> None:
    program = datasets.benchmark("words-v1/a?goal=speed")
    assert str(program) == "benchmark://words-v1/a?goal=speed"
    assert program.parameters == {"goal": "speed"}


def test_a_dataset_may_claim_a_whole_scheme(datasets: Datasets) -> None:
    with pytest.raises(UnknownNameError, match="no dataset 'file://'"):
        datasets.benchmark("file:///tmp/a.c")
    datasets.add(FileScheme("file://", [], hidden=True))
    assert datasets.benchmark("file:///tmp/a.c").contents == b"/tmp/a.c"
    assert str(datasets.benchmark("file:///tmp/a.c?goal=size")) == "file:///tmp/a.c?goal=size"
    assert datasets.benchmark("file://host/a.c").contents == b"/a.c"


def test_all_programs_are_iterated_in_turn_and_lazily(datasets: Datasets) -> None:
    words = datasets["words-v1"]
    first = [str(program) for program in itertools.islice(datasets.benchmarks(), 7)]
    assert first == [
        "benchmark://few-v0/x",
        "benchmark://words-v1/a",
        "generator://numbers-v0/0",
        "benchmark://words-v1/b",
        "generator://numbers-v0/1",
        "benchmark://words-v1/c",
        "generator://numbers-v0/2",
    ]
    assert list(itertools.islice(datasets.benchmark_uris(), 7)) == first
    assert isinstance(words, Words)
    words.read.clear()
    next(datasets.benchmarks())
    assert words.read == []


def test_missing_datasets_take_no_part_in_iteration_and_sampling() -> None:
    datasets = Datasets([Absent("absent-v0", ["a"]), Words("words-v0", ["w"])])
    assert [str(uri) for uri in datasets.benchmark_uris()] == ["benchmark://words-v0/w"]
    draws = {str(datasets.random_benchmark()) for _ in range(50)}
    assert draws == {"benchmark://words-v0/w"}
    assert datasets.benchmark("absent-v0/a").contents == b"a"
    with pytest.raises(UnknownNameError, match="no dataset to choose from"):
        Datasets([Absent("absent-v0", ["a"])]).random_benchmark()


def _share(datasets: Datasets, **kwargs: Any) -> dict[str, float]:
    generator = np.random.default_rng(0)
    draws = 2000
    found = Counter(
        datasets.random_benchmark(generator, **kwargs).uri.dataset for _ in range(draws)
    )
    return {name: count / draws for name, count in found.items()}


def test_datasets_are_sampled_uniformly_by_size_or_by_weight(datasets: Datasets) -> None:
    third = pytest.approx(1 / 3, abs=0.05)
    assert _share(datasets) == {"words-v1": third, "few-v0": third, "numbers-v0": third}
    by_size = {"words-v1": pytest.approx(0.75, abs=0.05), "few-v0": pytest.approx(0.25, abs=0.05)}
    assert _share(datasets, weighted=True) == by_size
    weights = {"old-v0": 1, "words-v1": 9}
    by_weight = {"words-v1": pytest.approx(0.9, abs=0.03), "old-v0": pytest.approx(0.1, abs=0.03)}
    assert _share(datasets, weights=weights) == by_weight


def test_weights_that_make_no_sense_are_refused(datasets: Datasets) -> None:
    for weight in (-1.0, float("inf"), float("nan")):
        with pytest.raises(InvalidParameterError, match="must be finite and not negative"):
            datasets.random_benchmark(weights={"words-v1": weight})
    with pytest.raises(UnknownNameError, match="no dataset"):
        datasets.random_benchmark(weights={"nothing-v1": 1})
    with pytest.raises(UnknownNameError, match="no dataset to choose from"):
        datasets.random_benchmark(weights={"words-v1": 0})


def test_draws_without_a_state_come_from_the_generator_that_was_set(datasets: Datasets) -> None:
    def draws() -> list[str]:
        datasets.generator = np.random.default_rng(5)
        return [str(datasets.random_benchmark()) for _ in range(10)]

    assert draws() == draws()
    assert datasets.copy().generator is None


def test_datasets_are_added_replaced_and_removed(datasets: Datasets) -> None:
    datasets["new-v0"] = Words("new-v0", ["n"])
    assert datasets["new-v0"]["n"].contents == b"n"
    datasets.add(Words("new-v0", ["m"]))
    assert datasets["new-v0"].size == 1
    assert "m" in datasets["new-v0"]
    copied = datasets.copy()
    del datasets["new-v0"]
    datasets.remove(datasets["few-v0"])
    assert "new-v0" not in datasets
    assert "few-v0" not in datasets
    assert "new-v0" in copied
    with pytest.raises(UnknownNameError, match="cannot be stored"):
        datasets["other-v0"] = Words("new-v0", [])
    with pytest.raises(UnknownNameError, match="no dataset"):
        del datasets["new-v0"]


def test_a_catalogue_can_be_pickled(datasets: Datasets) -> None:
    assert pickle.loads(pickle.dumps(datasets)).benchmark("few-v0/x").contents == b"x"
