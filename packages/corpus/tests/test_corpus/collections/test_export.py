# SPDX-License-Identifier: MIT
"""A table that was written holds what the dataset holds, and can be imported again."""

import json
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import (
    CorpusDataset,
    CorpusProgram,
    ReadOptions,
    export_folder,
    export_parquet,
    import_corpus,
)
from compiler_gym.datasets.splits import SMALLEST
from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.collections import export
from compiler_gym_corpus.packages import gather
from test_corpus.packages.built import shapes, text_of, write_package
from tests.datasets.conftest import Numbers, Words


def programs(corpus: CorpusDataset) -> dict[str, CorpusProgram]:
    return {program.key: program for program in corpus.programs()}


def test_an_export_can_be_imported_again(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    folder = tmp_path / "tree" / "é"
    folder.mkdir(parents=True)
    for number in range(600):
        (folder / f"{number}.c").write_text(str(number))
    options = ReadOptions(license="MIT")
    site = tmp_path / "site"
    report = import_corpus("my-v0", folder.parent, site_data_base=site, options=options)
    corpus = CorpusDataset(report.path)
    table = tmp_path / "out/x.parquet"
    assert export_parquet(corpus, table) == 600
    done = import_corpus("again-v0", table, site_data_base=site)
    assert programs(CorpusDataset(done.path)) == programs(corpus)
    assert export_parquet(Words("words-v0", ["a", "b"]), table) == 2
    assert export_parquet(Numbers("numbers-v0"), table, limit=3) == 3
    with pytest.raises(DatasetInitError, match="is unbounded: set a limit"):
        export_parquet(Numbers("numbers-v0"), table)
    assert [p.name for p in table.parent.iterdir()] == ["x.parquet"]


def test_a_table_that_cannot_be_finished_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow")

    class Broken(Words):
        def benchmark_from_parsed_uri(self, uri: Any) -> Any:
            if uri.path == "/b":
                raise DatasetInitError("the second program is lost")
            return super().benchmark_from_parsed_uri(uri)

    table = tmp_path / "out" / "x.parquet"
    with pytest.raises(DatasetInitError, match="the second program is lost"):
        export_parquet(Broken("words-v0", ["a", "b"]), table)
    assert not list(table.parent.glob("*.parquet"))


@pytest.fixture
def gathered(tmp_path: Path) -> CorpusDataset:
    """Return a corpus of two packages, of which one program is in no split."""
    folder = tmp_path / "built"
    modules = {f"{n}.c": text_of([(n, SMALLEST)]) for n in range(5)}
    write_package(folder, "zlib", modules, license="Zlib")
    write_package(folder, "expat", {"e.c": text_of([(0, SMALLEST), (9, 1)])}, license="Expat")
    path = gather(
        folder, tmp_path / "c.sqlite", name="debian-v0", shapes=shapes, description="Two packages"
    ).path
    return CorpusDataset(path)


def test_a_folder_has_a_table_for_each_split_and_a_card(
    gathered: CorpusDataset, tmp_path: Path
) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    folder = tmp_path / "out"
    assert export_folder(gathered, folder) == 6
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "shared.parquet", "test.parquet", "train.parquet",
    ]  # fmt: skip
    train = parquet.read_table(folder / "train.parquet").to_pylist()
    assert [row["key"] for row in train] == [f"zlib/{n}.c" for n in range(1, 5)]
    row = train[0]
    facts = gathered.facts("debian-v0/zlib/1.c")
    assert (row["split"], row["cluster"], row["package"]) == ("train", facts.cluster, "zlib")
    assert row["content"] == gathered["zlib/1.c"].contents
    assert json.loads(row["command"]) == ["cc", "-c", "1.c"]
    assert (row["license_expression"], row["instructions"]) == ("Zlib", 100)
    assert [r["key"] for r in parquet.read_table(folder / "shared.parquet").to_pylist()] == [
        "zlib/0.c"
    ]
    card = (folder / "README.md").read_text()
    for text in ("path: test.parquet", "| `shared` | 1 |", "| Expat | 1 |", "| zlib | 1.0 | Zlib"):
        assert text in card
    done = import_corpus("again-v0", folder / "train.parquet", site_data_base=tmp_path / "site")
    assert CorpusDataset(done.path)["zlib/1.c"].contents == row["content"]


def test_a_folder_is_replaced_by_an_export_only_if_it_is_one(
    gathered: CorpusDataset, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    folder = tmp_path / "out"
    assert export_folder(Words("words-v0", ["a", "b"]), folder) == 2
    assert (folder / "all.parquet").is_file()
    assert "split: all" in (folder / "README.md").read_text()
    assert export_folder(gathered, folder, limit=1) == 3
    assert not (folder / "all.parquet").exists()
    (folder / "mine.txt").touch()
    with pytest.raises(DatasetInitError, match="exists and is not an export; choose a new"):
        export_folder(gathered, folder)
    with pytest.raises(DatasetInitError, match="is unbounded: set a limit"):
        export_folder(Numbers("numbers-v0"), tmp_path / "other")
    assert (folder / "train.parquet").is_file()


def test_large_programs_are_not_held_together(
    gathered: CorpusDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    monkeypatch.setattr(export, "_BYTES_PER_BATCH", 1)
    export_parquet(gathered, tmp_path / "c.parquet")
    assert parquet.ParquetFile(tmp_path / "c.parquet").num_row_groups == 6
