# SPDX-License-Identifier: MIT
"""The file of a corpus is read by several threads and processes, whole or in part."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compiler_gym.datasets import CorpusDataset
from compiler_gym.datasets.corpus_store import PROGRAM_KINDS, CorpusStore, StoredSelection
from compiler_gym_corpus.packages import gather
from test_corpus.packages.built import shapes, text_of, write_package


@pytest.fixture
def path(tmp_path: Path) -> Path:
    modules = {f"{n}.c": text_of([(n, 50)]) for n in range(70)}
    whole = (text_of([(n, 50) for n in range(70)]), list(modules))
    write_package(tmp_path, "zlib", modules, programs={"all": whole})
    write_package(tmp_path, "expat", {"t.c": text_of([(100, 50)])})
    return gather(tmp_path, tmp_path / "c.sqlite", name="c-v0", shapes=shapes).path


def test_a_selection_is_read_in_order_by_number_and_in_each_thread(path: Path) -> None:
    store = CorpusStore(path, StoredSelection("train", PROGRAM_KINDS["module"]))
    keys = list(store.keys_in_order())
    assert len(keys) == store.size() == 70
    assert [program.key for program in store.programs()] == keys
    assert "zlib/all" not in keys
    assert "expat/t.c" not in keys
    copy = pickle.loads(pickle.dumps(store))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(copy.at, range(-1, 71)))
    assert [program and program.key for program in found] == [None, *keys, None]
    assert CorpusStore(path, StoredSelection("validation")).size() == 0
    assert list(CorpusStore(path, StoredSelection("validation")).programs()) == []


def test_all_programs_are_those_of_no_selection(path: Path) -> None:
    assert CorpusStore(path).size() == CorpusDataset(path).size == 72
    assert CorpusStore(path, StoredSelection(kinds=PROGRAM_KINDS["program"])).size() == 1
    facts = CorpusStore(path).facts("zlib/all")
    assert facts is not None
    assert len(facts.modules) == 70
    assert CorpusStore(path).facts("zlib/none") is None
