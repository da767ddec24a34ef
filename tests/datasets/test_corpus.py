# SPDX-License-Identifier: MIT
"""A corpus file is a dataset, and a sample comes with this library."""

import multiprocessing
import os
import pickle
import sqlite3
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler_gym.datasets import (
    NO_SPLIT,
    SPLITS,
    Benchmark,
    BenchmarkUri,
    CorpusDataset,
    CorpusProgram,
    SampleDataset,
    find_corpora,
    split_of_package,
)
from compiler_gym.datasets.corpus import sample_folder
from compiler_gym.errors import DatasetInitError, UnknownNameError
from compiler_gym_corpus.collections.corpus_writer import CorpusWriter
from scripts.corpus_sample import MOST_BYTES, is_permissive


def program(number: int) -> bytes:
    return f"int function_{number}(int x) {{ return x + {number} * 7; }}\n".encode() * (
        number % 5 + 1
    )


def write(path: Path, numbers: range, **kwargs: Any) -> None:
    with CorpusWriter(path, name="c-v0", license="MIT", **kwargs) as writer:
        for number in numbers:
            writer.add(f"dir/f{number}.c", program(number), suffix=".c", license="MIT")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "benchmark/c-v0/corpus.sqlite"
    write(path, range(200))
    return path


def test_programs_are_read_back_by_name_by_number_and_in_order(path: Path) -> None:
    corpus = CorpusDataset(path)
    assert (corpus.name, corpus.license, corpus.size) == ("benchmark://c-v0", "MIT", 200)
    assert corpus["dir/f7.c"].contents == program(7)
    assert corpus[199].contents == program(199)
    assert [p.contents for p in corpus] == [program(n) for n in range(200)]
    uris = list(corpus.benchmark_uris())
    assert uris == [f"benchmark://c-v0/dir/f{n}.c" for n in range(200)]
    assert [str(p) for p in corpus] == uris
    assert corpus.benchmark(f"{uris[3]}?goal=speed").parameters == {"goal": "speed"}
    for benchmark in (next(corpus.benchmarks()), corpus.random_benchmark(np.random.default_rng(0))):
        assert benchmark.uri == BenchmarkUri.from_string(str(benchmark.uri))
        assert pickle.loads(pickle.dumps(benchmark.uri)).path == benchmark.uri.path
    with pytest.raises(UnknownNameError, match="no program benchmark://c-v0/zzz among the 200"):
        corpus.benchmark("c-v0/zzz")
    with pytest.raises(UnknownNameError, match="no program number 200"):
        corpus[200]
    assert corpus.verify() == []


def test_the_programs_are_compressed_with_a_separate_dictionary(path: Path) -> None:
    with sqlite3.connect(path) as sql:
        stored = sql.execute("SELECT sum(length(data)) FROM content").fetchone()[0]
        assert sql.execute("SELECT count(*) FROM dictionary").fetchone() == (1,)
    sql.close()
    assert stored < sum(len(program(n)) for n in range(200)) / 3


def test_a_corpus_that_is_replaced_while_open_is_read_anew(path: Path, tmp_path: Path) -> None:
    corpus = CorpusDataset(path)
    assert corpus["dir/f1.c"].contents == program(1)
    other = tmp_path / "other.sqlite"
    with CorpusWriter(other, name="c-v0") as writer:
        writer.add("dir/f1.c", b"another")
    other.replace(path)
    assert corpus["dir/f1.c"].contents == b"another"
    assert corpus.size == 1


def test_a_corpus_that_is_removed_while_open_is_a_typed_error(path: Path) -> None:
    corpus = CorpusDataset(path)
    iterator = corpus.benchmarks()
    next(iterator)
    path.unlink()
    with pytest.raises(DatasetInitError, match=r"cannot read the corpus .*No such file"):
        corpus.benchmark("c-v0/dir/f1.c")
    with pytest.raises(DatasetInitError, match=r"cannot read the corpus .*No such file"):
        list(iterator)
    assert not corpus.installed
    with pytest.raises(DatasetInitError, match="import it again"):
        corpus.install()


def test_a_program_without_its_origin_is_damage(path: Path) -> None:
    corpus = CorpusDataset(path)
    key = corpus.program_at(0).key
    sql = sqlite3.connect(path)
    sql.execute("DELETE FROM origin WHERE id = (SELECT origin FROM program WHERE id = 1)")
    sql.commit()
    sql.close()
    with pytest.raises(DatasetInitError, match=r"there is no origin number \d+; import it again"):
        corpus.program(f"{corpus.name}/{key}")


def test_bytes_altered_in_the_file_are_noticed(path: Path) -> None:
    with sqlite3.connect(path) as sql:
        data = bytearray(sql.execute("SELECT data FROM content WHERE id = 8").fetchone()[0])
        data[-6] ^= 1
        sql.execute("UPDATE content SET data = ? WHERE id = 8", (bytes(data),))
    sql.close()
    corpus = CorpusDataset(path)
    with pytest.raises(DatasetInitError, match="damaged or was altered"):
        corpus.benchmark("c-v0/dir/f7.c")
    with pytest.raises(DatasetInitError, match="damaged or was altered"):
        list(corpus.benchmarks())
    assert corpus["dir/f8.c"].contents == program(8)
    (finding,) = corpus.verify()
    assert finding.startswith("program number 8 cannot be read")


def test_another_program_under_the_same_name_is_noticed(path: Path) -> None:
    with sqlite3.connect(path) as sql:
        sql.execute("UPDATE program SET sha256 = zeroblob(32) WHERE id = 3")
    sql.close()
    assert CorpusDataset(path).verify() == ["dir/f2.c differs from the imported program"]


@pytest.mark.parametrize("keep", [0, 100, 5000, 20_000])
def test_a_file_cut_short_while_open_is_a_typed_error(path: Path, keep: int) -> None:
    corpus = CorpusDataset(path)
    assert corpus.size == 200
    assert path.stat().st_size > keep
    os.truncate(path, keep)
    with pytest.raises(DatasetInitError):
        list(corpus.benchmarks())


def test_a_file_that_is_not_a_corpus_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"not a database, but long enough to look like something" * 100)
    with pytest.raises(DatasetInitError, match="not a database"):
        CorpusDataset(path)
    with pytest.raises(DatasetInitError, match="No such file"):
        CorpusDataset(tmp_path / "missing.sqlite")


def test_a_newer_format_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as sql:
        sql.execute("UPDATE meta SET value = '2' WHERE key = 'format'")
    sql.close()
    with pytest.raises(DatasetInitError, match="corpus format 2; this library reads 1"):
        CorpusDataset(path)


def test_a_reader_may_make_something_else_of_a_stored_program(path: Path) -> None:
    def shout(uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
        return Benchmark(uri, program.contents.upper(), sources=[("a" + program.suffix, b"")])

    corpus = CorpusDataset(path, reader=shout)
    for benchmark in (corpus[1], next(iter(corpus)), corpus.random_benchmark()):
        assert b"INT FUNCTION" in benchmark.contents
        assert next(iter(benchmark.sources)).filename == "a.c"


def test_a_corpus_is_read_from_several_threads_and_after_a_fork(path: Path) -> None:
    corpus = CorpusDataset(path)
    assert corpus[0].contents == program(0)
    wrong: list[int] = []

    def read() -> None:
        wrong.extend(n for n in range(200) if corpus[n].contents != program(n))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == []
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=lambda: results.put(corpus[5].contents))
    child.start()
    assert results.get(timeout=20) == program(5)
    child.join(120)
    assert pickle.loads(pickle.dumps(corpus))[5].contents == program(5)


def test_imported_corpora_are_found_and_removed(path: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "benchmark/d-v0/corpus.sqlite"
    damaged.parent.mkdir()
    damaged.write_bytes(b"x")
    (tmp_path / "benchmark/no name").mkdir()
    (tmp_path / "benchmark/no name/corpus.sqlite").write_bytes(b"x")
    corpus, bad = find_corpora(tmp_path)
    assert corpus.name == "benchmark://c-v0"
    assert (bad.name, bad.installed, bad.size) == ("benchmark://d-v0", False, 0)
    assert bad.site_data_size_in_bytes == 1
    assert "is damaged" in bad.verify()[0]
    with pytest.raises(DatasetInitError, match="import it again"):
        bad.install()
    with pytest.raises(DatasetInitError, match="import it again"):
        bad["f7.c"]
    assert corpus.site_data_size_in_bytes == path.stat().st_size
    corpus.uninstall()
    corpus.uninstall()
    assert not path.parent.exists()
    assert corpus.size == 0
    assert not corpus.installed


@pytest.fixture(scope="module")
def sample() -> SampleDataset:
    return SampleDataset()


def test_it_has_two_hundred_modules_and_ten_linked_programs(sample: SampleDataset) -> None:
    assert sample.name == "benchmark://debian-sample-v0"
    assert sample.of_kind("module").size == 200
    assert sample.of_kind("program").size >= 10
    assert all(sample.split(name).size >= 10 for name in SPLITS)
    assert sum(sample.split(name).size for name in (*SPLITS, NO_SPLIT)) == sample.size
    assert sample.verify() == []


def test_it_is_small_and_free(sample: SampleDataset) -> None:
    size = sum(path.stat().st_size for path in sample_folder().iterdir())
    assert size <= MOST_BYTES
    licences = Counter(program.license for program in sample.programs())
    mixed = [name for name in licences if not is_permissive(name)]
    # A package as a whole, of which the linked program has the parts with known licences only.
    assert all("GPL" not in name and licences[name] == 1 for name in mixed)
    for package in sample.packages():
        assert f"{package.name} {package.version}\n====" in sample.notices


def test_no_function_of_a_test_package_has_a_near_duplicate_in_train(
    sample: SampleDataset,
) -> None:
    judged: set[int] = set()
    for uri in sample.benchmark_uris():
        packages = {place.package for place in sample.facts(uri).places}
        if any(split_of_package(name) == "test" for name in packages):
            judged |= {one.shape for one in sample.functions(uri) if one.counts}
    assert len(judged) > 50
    for name in ("train", "validation"):
        for uri in sample.split(name).benchmark_uris():
            assert not judged & {one.shape for one in sample.functions(uri) if one.counts}, uri


def test_it_is_part_of_the_library(sample: SampleDataset) -> None:
    assert sample.installed
    assert not sample.has_site_data
    assert sample.validatable == "No"
    assert sample.path.parent == Path(sample_folder())
