# SPDX-License-Identifier: MIT
"""A table that was written holds what the dataset holds, and can be imported again."""

from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import (
    CorpusDataset,
    CorpusProgram,
    ReadOptions,
    export_parquet,
    import_corpus,
)
from compiler_gym.errors import DatasetInitError
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
    with pytest.raises(DatasetInitError, match="has no end: expected a limit"):
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
