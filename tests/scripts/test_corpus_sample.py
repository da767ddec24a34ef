# SPDX-License-Identifier: MIT
"""What the sample takes is free, spread over packages, and the same whenever it is made."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.datasets import CorpusDataset
from compiler_gym_corpus.packages import PackageResult
from scripts import corpus_sample
from scripts.corpus_sample import chosen, is_permissive, main
from test_corpus.packages.built import shapes, text_of, write_package

FREE = ("Expat", "MIT", "BSD-2-clause", "BSD-3-Clause", "ISC", "Zlib", "public-domain")
NOT = ("GPL-2+", "LGPL-2.1+", "", "Artistic", "Expat and GPL-2+", "GPL with exception")


def test_a_licence_asks_for_a_notice_only_in_one_way_to_read_it() -> None:
    assert all(map(is_permissive, FREE))
    assert is_permissive("GPL-2+ or Expat")
    assert is_permissive("Expat and BSD-3-clause, ISC")
    assert not any(map(is_permissive, NOT))
    assert not is_permissive("(GPL-2+ or Expat) and GPL-3")


def package(folder: Path, name: str, count: int, license: str = "Expat") -> PackageResult:
    modules = {f"{n}.c": text_of([(n, 20)], name) for n in range(count)}
    whole = {"tool": (text_of([(n, 20) for n in range(count)], name), list(modules))}
    return write_package(folder, name, modules, programs=whole, license=license, version="1")


def test_packages_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_sample, "MODULES", 5)
    results = [package(tmp_path, "aa", 8), package(tmp_path, "bb", 2)]
    results.append(package(tmp_path, "cc", 9, "GPL-2+"))
    taken = chosen(results)
    by_package = [len(taken & {one.sha256 for one in r.modules}) for r in results]
    assert by_package == [3, 2, 0]
    assert len(taken) == 5 + 2


def test_the_sample_is_written_with_the_words_of_its_licences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package(tmp_path / "one", "zlib", 3)
    package(tmp_path / "two", "expat", 2)
    for name in ("zlib", "expat"):
        folder = tmp_path / "sources" / f"{name}_1"
        folder.mkdir(parents=True)
        (folder / f"{name}_1.dsc").write_text(name)

    def unpack(words: list[str], **_: object) -> None:
        (Path(words[-1]) / "debian").mkdir(parents=True)
        (Path(words[-1]) / "debian/copyright").write_text(f"Do what you like, {words[-2]}")

    monkeypatch.setattr(subprocess, "run", unpack)
    monkeypatch.setattr(corpus_sample, "find_shapes", shapes)
    arguments = [str(tmp_path / "one"), str(tmp_path / "two")]
    arguments += ["--sources", str(tmp_path / "sources"), "--output"]
    assert main([*arguments, str(tmp_path / "out")]) == 0
    assert main([*arguments, str(tmp_path / "again")]) == 0
    assert "5 modules and 2 linked programs of 2 packages" in capsys.readouterr().out
    corpus = CorpusDataset(tmp_path / "out/sample.sqlite")
    assert corpus.name == "benchmark://debian-sample-v0"
    notices = (tmp_path / "out/NOTICES.txt").read_text()
    assert notices.index("expat 1\n=======") < notices.index("zlib 1\n======")
    for name in ("sample.sqlite", "NOTICES.txt"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    monkeypatch.setattr(corpus_sample, "MOST_BYTES", 10)
    assert main([*arguments, str(tmp_path / "out")]) == 1
