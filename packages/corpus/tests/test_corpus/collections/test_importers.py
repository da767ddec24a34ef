# SPDX-License-Identifier: MIT
import gzip
import json
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import (
    CorpusDataset,
    CorpusProgram,
    ReadOptions,
)
from compiler_gym.datasets.fetching import zstd
from compiler_gym.datasets.fetching.archive import ArchiveLimits
from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.collections import ImportReport, import_corpus
from tests.datasets.conftest import make_tar

MIT = "Permission is hereby granted, free of charge, to any person"


@pytest.fixture
def run(tmp_path: Path):
    def import_path(path: Path, **kwargs: Any) -> tuple[ImportReport, CorpusDataset]:
        report = import_corpus("my-v0", path, site_data_base=tmp_path / "site", **kwargs)
        return report, CorpusDataset(report.path)

    return import_path


def programs(corpus: CorpusDataset) -> dict[str, CorpusProgram]:
    return {program.key: program for program in corpus.programs()}


def problems(corpus: CorpusDataset) -> dict[str, str]:
    return {key: reason for key, reason, _ in corpus.unreadable()}


def fill(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def test_a_directory_is_imported_with_licence_source_and_hash(run: Any, tmp_path: Path) -> None:
    tree = fill(
        tmp_path / "tree",
        {
            "a.c": b"int a;",
            "sub/b.cpp": b"// SPDX-License-Identifier: Apache-2.0\nint b;",
            "sub/copy.c": b"int a;",
            "sub/empty.c": b"",
            "lib/LICENSE": MIT.encode(),
            "lib/deep/c.c": b"int c;",
            "README.md": b"not a program",
            ".git/x.c": b"hidden",
        },
    )
    report, corpus = run(tree)
    assert (report.added, report.duplicates, report.unreadable) == (3, 1, 1)
    assert report.problems == [("sub/empty.c", "it is empty")]
    assert problems(corpus) == {"sub/empty.c": "it is empty"}
    found = programs(corpus)
    assert {key: p.license for key, p in found.items()} == {
        "a.c": "unknown",
        "lib/deep/c.c": "MIT",
        "sub/b.cpp": "Apache-2.0",
    }
    assert found["sub/b.cpp"].language == "c++"
    assert found["a.c"].source == str(tree)
    assert corpus["sub/copy.c"].contents == b"int a;"
    assert "3 programs added, 1 duplicates" in str(report)


def test_importing_again_adds_only_what_is_new(run: Any, tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"a.c": b"1", "b.c": b"2", "copy.c": b"1"})
    run(tree)
    fill(tree, {"c.c": b"3"})
    report, corpus = run(tree)
    assert (report.added, report.already_there, report.duplicates) == (1, 3, 0)
    assert corpus.size == 3


def test_a_file_that_changed_is_kept_next_to_the_first(run: Any, tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"a.c": b"1"})
    run(tree)
    fill(tree, {"a.c": b"changed", "b.c": b"2"})
    report, corpus = run(tree)
    assert (report.added, report.unreadable) == (1, 1)
    assert corpus["a.c"].contents == b"1"
    assert [data for _, _, data in corpus.unreadable()] == [b"changed"]


def test_published_directory_shapes_are_understood(run: Any, tmp_path: Path) -> None:
    tree = fill(
        tmp_path / "tree",
        {
            "ProgramData/1/1.txt": b"int main() {}",
            "ProgramData/104/22.txt": b"int main() { return 1; }",
            "notes.txt": b"no program",
            "8cc/extr_buffer.c_buf_append.c": b"void buf_append() {}",
        },
    )
    _, corpus = run(tree)
    assert {key: p.suffix for key, p in programs(corpus).items()} == {
        "8cc/extr_buffer.c_buf_append.c": ".c",
        "ProgramData/1/1.txt": ".cpp",
        "ProgramData/104/22.txt": ".cpp",
    }


def test_an_unreadable_program_is_kept_with_the_compilers_message(run: Any, tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"a.bc": b"BC", "new.bc": b"newer", "b.c": b"int b;"})

    def check(contents: bytes, suffix: str) -> str | None:
        return "from a newer compiler" if contents == b"newer" and suffix == ".bc" else None

    report, corpus = run(tree, check=check)
    assert (report.added, report.unreadable) == (2, 1)
    assert problems(corpus) == {"new.bc": "from a newer compiler"}


def test_options_choose_files_and_state_what_is_known(run: Any, tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"a.src": b"1", "b.c": b"2", "big.src": b"3" * 100})
    options = ReadOptions(
        suffixes=(".src",), max_bytes=50, license="BSD-3-Clause", source="me", language="zig"
    )
    _, corpus = run(tree, options=options)
    (found,) = corpus.programs()
    assert (found.key, found.license, found.source, found.language) == (
        "a.src",
        "BSD-3-Clause",
        "me",
        "zig",
    )
    assert problems(corpus) == {"big.src": "100 bytes exceed the limit of 50"}
    assert corpus.license == "BSD-3-Clause"


def test_names_that_are_not_utf8_are_imported(run: Any, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / os.fsdecode(b"caf\xe9.c")).write_bytes(b"1")
    (tree / "é ü.c").write_bytes(b"2")
    _, corpus = run(tree)
    assert sorted(corpus.benchmark_uris()) == [
        "benchmark://my-v0/%C3%A9%20%C3%BC.c",
        "benchmark://my-v0/caf%E9.c",
    ]
    assert {corpus.benchmark(uri).contents for uri in corpus.benchmark_uris()} == {b"1", b"2"}


@pytest.mark.parametrize(
    "name", ["x.tar", "x.tar.gz", "x.tgz", "x.tar.bz2", "x.tar.xz", "x.tar.zst"]
)
def test_a_tar_archive_is_imported(run: Any, tmp_path: Path, name: str) -> None:
    files = {"p/a.c": b"1", "p/b.bc": b"2", "p/README": b"x", "p/c.c": b"1"}
    compression = {"gz": "gz", "tgz": "gz", "bz2": "bz2", "xz": "xz"}.get(
        name.rpartition(".")[2], ""
    )
    data = make_tar(files, compression)
    (tmp_path / name).write_bytes(zstd.compress(data) if name.endswith("zst") else data)
    report, corpus = run(tmp_path / name)
    assert (report.added, report.duplicates) == (2, 1)
    assert {key: p.contents for key, p in programs(corpus).items()} == {
        "p/a.c": b"1",
        "p/b.bc": b"2",
    }
    assert {p.source for p in corpus.programs()} == {name}


def test_hostile_members_of_an_archive_are_kept_out_and_reported(run: Any, tmp_path: Path) -> None:
    link = tarfile.TarInfo("link.c")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    extra = (tarfile.TarInfo("../evil.c"), tarfile.TarInfo("a.c"))
    path = tmp_path / "x.tar"
    path.write_bytes(make_tar({"a.c": b"1"}, "", extra))
    report, corpus = run(path)
    assert (report.added, report.unreadable) == (1, 2)
    assert problems(corpus) == {
        "../evil.c": "'../evil.c' points outside its directory",
        "a.c": "two files are named 'a.c'",
    }


def test_a_truncated_archive_and_a_bomb_make_no_corpus(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    data = make_tar({f"{i}.c": os.urandom(500) for i in range(50)}, "gz")
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(DatasetInitError, match="damaged or truncated"):
        run(path)
    path.write_bytes(make_tar({"a.c": b"\0" * 5_000_000}, "gz"))
    limits = ArchiveLimits(small=1000, max_ratio=10)
    with pytest.raises(DatasetInitError, match="unpacks to more"):
        run(path, options=ReadOptions(limits=limits))
    assert not list((tmp_path / "site").rglob("*.sqlite"))
    assert not list((tmp_path / "site").rglob("*.partial*"))
    path.write_bytes(data)
    assert run(path)[0].added == 50


def test_a_zip_is_imported_and_a_damaged_entry_reported(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.c", b"int first;")
        archive.writestr("b.c", b"int second;")
    path.write_bytes(path.read_bytes().replace(b"int first;", b"int fir5t;"))
    report, corpus = run(path)
    assert (report.added, report.unreadable) == (1, 1)
    assert corpus["b.c"].contents == b"int second;"
    assert "Bad CRC-32" in problems(corpus)["a.c"]


LINES = [
    {
        "text": {
            "path": "r/x.c",
            "fname": "f",
            "func_def": "int f() {}",
            "real_deps": "typedef int t;",
        }
    },
    {"text": {"path": "r/x.c", "fname": "g", "func_def": "int g() {}", "ref": "github.com/r"}},
    {"code": "int h;", "license": "MIT"},
    {"nothing": 1},
    ["a", "list"],
]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.zst", "x.jsonl.gz"])
def test_json_lines_of_functions_are_imported(run: Any, tmp_path: Path, name: str) -> None:
    text = "\n\n".join(json.dumps(line) for line in LINES).encode() + b'\n{"broken": \n'
    pack = {"zst": zstd.compress, "gz": gzip.compress}.get(name.rpartition(".")[2], bytes)
    (tmp_path / name).write_bytes(pack(text))
    report, corpus = run(tmp_path / name)
    assert (report.added, report.unreadable) == (3, 3)
    found = programs(corpus)
    assert found["r/x.c/f"].contents == b"typedef int t;\nint f() {}\n"
    assert found["r/x.c/g"].source == "github.com/r"
    (unnamed,) = (p for key, p in found.items() if not key.startswith("r/"))
    assert (unnamed.contents, unnamed.license, unnamed.suffix) == (b"int h;", "MIT", ".c")
    assert problems(corpus)["line-10"].startswith("invalid JSON")


def _table(path: Path, rows: list[dict[str, Any]], **kwargs: Any) -> Path:
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, **kwargs)
    return path


def _rows(start: int, stop: int) -> list[dict[str, Any]]:
    return [
        {
            "content": b"BC" + str(number).encode(),
            "license_expression": "MIT" if number % 2 else None,
            "license_source": "spack",
            "license_files": [{"path": "LICENSE", "sha": str(number % 3)}],
            "package_source": f"pkg-{number % 4}",
            "language": "rust",
        }
        for number in range(start, stop)
    ]


def test_parquet_of_bitcode_is_imported_with_its_provenance(run: Any, tmp_path: Path) -> None:
    _table(tmp_path / "t/rust/1.parquet", _rows(0, 100), row_group_size=30)
    _table(tmp_path / "t/rust/2.parquet", [*_rows(50, 120), _rows(0, 1)[0] | {"content": None}])
    report, corpus = run(tmp_path / "t")
    assert (report.added, report.unreadable) == (120, 1)
    assert report.already_there == 50
    found = {p.contents: p for p in corpus.programs()}[b"BC7"]
    assert (found.license, found.source, found.language) == ("MIT", "pkg-3", "rust")
    assert json.loads(found.license_files) == [{"path": "LICENSE", "sha": "1"}]
    assert found.suffix == ".bc"
    assert corpus.benchmark(f"my-v0/{found.key}").contents == b"BC7"


def test_parquet_without_programs_is_refused(run: Any, tmp_path: Path) -> None:
    with pytest.raises(DatasetInitError, match=r"no column 'content', only text"):
        run(_table(tmp_path / "x.parquet", [{"text": "x"}]))
    (tmp_path / "y.parquet").write_bytes(b"PAR1 but no table")
    _table(tmp_path / "d/a.parquet", _rows(0, 3))
    (tmp_path / "d/b.parquet").write_bytes(b"PAR1 but no table")
    report, corpus = run(tmp_path / "d")
    assert (report.added, report.unreadable) == (3, 1)
    assert problems(corpus)["b.parquet"].startswith("not a Parquet file")


@pytest.mark.parametrize("kind", ["directory", "tar", "jsonl", "parquet"])
def test_an_interrupted_import_goes_on_where_it_ended(
    run: Any, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compiler_gym_corpus.collections.corpus_writer._COMMIT_PROGRAMS", 50)
    names = [f"{number:03}.c" for number in range(300)]
    if kind == "directory":
        path = fill(tmp_path / "tree", {name: name.encode() for name in names})
    elif kind == "tar":
        path = tmp_path / "x.tar.gz"
        path.write_bytes(make_tar({name: name.encode() for name in names}, "gz"))
    elif kind == "jsonl":
        path = tmp_path / "x.jsonl"
        path.write_text("".join(json.dumps({"code": n, "path": n}) + "\n" for n in names))
    else:
        rows = [{"content": name.encode(), "key": name} for name in names]
        path = _table(tmp_path / "x.parquet", rows, row_group_size=70)
    seen: list[bytes] = []

    def stop_at_220(contents: bytes, suffix: str) -> str | None:
        seen.append(contents)
        if len(seen) == 220:
            raise KeyboardInterrupt
        return None

    with pytest.raises(KeyboardInterrupt):
        run(path, check=stop_at_220)
    assert not list((tmp_path / "site").rglob("corpus.sqlite"))
    report, corpus = run(path, check=stop_at_220)
    assert (report.resumed_at, report.added) == (200, 100)
    assert len(seen) == 320
    assert [p.contents.decode() for p in corpus] == names
    assert corpus.verify() == []


@pytest.mark.parametrize(
    ("name", "message"),
    [("x.rar", "unknown format of x.rar"), ("missing", "no such file or directory")],
)
def test_a_failed_import_is_a_typed_error(
    run: Any, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "x.rar").write_bytes(b"x")
    with pytest.raises(DatasetInitError, match=message):
        run(tmp_path / name)
    (tmp_path / "void").mkdir()
    with pytest.raises(DatasetInitError, match=r"no programs in .*void: files need names"):
        run(tmp_path / "void")
    (tmp_path / "void/a.c").touch()
    with pytest.raises(
        DatasetInitError, match=r"none of the 1 programs in .* could be read: a.c: it is empty"
    ):
        run(tmp_path / "void")
    assert not list((tmp_path / "site").rglob("corpus.sqlite"))
    with pytest.raises(DatasetInitError, match="is not a dataset name"):
        import_corpus("a-v0/b", tmp_path / "void", site_data_base=tmp_path)


def test_names_in_tables_lead_nowhere(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    names = ["../../etc/a.c", "/abs/b.c", "./c//./d.c", "..", ""]
    rows = [{"code": f"int v{i};", "path": name} for i, name in enumerate(names)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = [program.key for program in run(path)[1].programs()]
    assert found[:3] == ["etc/a.c", "abs/b.c", "c/d.c"]
    assert all(len(key) == 22 for key in found[3:])


def test_a_table_without_programs_does_not_hide_the_others(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    folder = tmp_path / "tables"
    folder.mkdir()
    _table(folder / "a.parquet", [{"content": b"BC1"}, {"content": None}, {"content": b""}])
    _table(folder / "b.parquet", [{"other": 1}])
    _table(folder / "c.parquet", [{"content": b"BC2"}])
    report, corpus = run(folder)
    assert (report.added, report.unreadable) == (2, 3)
    assert problems(corpus) == {
        "number-2": "no contents, or too large",
        "number-3": "it is empty",
        "b.parquet": "b.parquet has no column 'content', only other",
    }
    (folder / "d.parquet").write_bytes((folder / "c.parquet").read_bytes())
    assert run(folder)[0].added == 0
