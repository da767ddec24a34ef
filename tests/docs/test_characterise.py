# SPDX-License-Identifier: MIT
"""What the pages say of programs is what is measured of them."""

import bz2
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.envs.llvm.datasets import NPBDataset
from docs.characterise import (
    FOLDER,
    Character,
    character,
    characters,
    draw,
    main,
    read,
    slug,
    summary,
)
from tests.datasets.conftest import make_tar
from tests.datasets.server import Server

DATASETS = ["benchmark://cbench-v1", "generator://csmith-v0", "generator://llvm-stress-v0"]


@pytest.mark.parametrize("name", DATASETS)
def test_the_first_programs_measure_as_the_table_says(name: str) -> None:
    measured = read(name)
    with compiler_gym.make("llvm-v0") as env:
        for known in measured[:4]:
            env.reset(benchmark=known.program)
            assert character(env, known.program) == known


@pytest.mark.slow
@pytest.mark.parametrize("name", DATASETS)
def test_every_program_measures_as_the_table_says(name: str) -> None:
    measured = read(name)
    with compiler_gym.make("llvm-v0") as env:
        assert list(characters(env, env.datasets[name], len(measured))) == measured


def test_every_dataset_at_hand_has_a_table_and_a_plot() -> None:
    with compiler_gym.make("llvm-v0") as env:
        at_hand = [d.name for d in env.datasets if d.installed and not d.name.startswith("user")]
    for name in DATASETS:
        assert name in at_hand
        assert (FOLDER / f"{slug(name)}.svg").read_text().startswith("<?xml")
    assert len(read(DATASETS[0])) == 23


def test_an_archive_that_was_fetched_is_measured_by_the_command_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with compiler_gym.make("llvm-v0") as env:
        uris = [f"cbench-v1/{name}" for name in ("crc32", "qsort", "sha")]
        programs = {uri[10:]: env.datasets.benchmark(uri).contents for uri in uris}
    archive = make_tar({f"npb-v0/{n}/{k}.bc": programs[n] for n in programs for k in range(40)})
    manifest = bz2.compress("\n".join(f"{n}/{k}" for n in programs for k in range(40)).encode())
    site = tmp_path / "site"
    with Server().running() as server:
        server.files = {"a": archive, "m": manifest}
        NPBDataset(
            site,
            tar_urls=[server.url("ok/a")],
            tar_sha256=None,
            manifest_urls=[server.url("ok/m")],
            manifest_sha256=None,
        ).install()
    monkeypatch.setenv("COMPILER_GYM_SITE_DATA", str(site))
    monkeypatch.setattr("sys.argv", ["", "npb-llvm10-v0", "--folder", str(tmp_path / "pages")])
    main()
    assert capsys.readouterr().out == "benchmark://npb-llvm10-v0: 60 programs\n"
    measured = read("benchmark://npb-llvm10-v0", tmp_path / "pages")
    assert {one.instructions for one in measured if "/crc32/" in one.program} == {
        one.instructions for one in read("benchmark://cbench-v1") if one.program.endswith("/crc32")
    }
    assert {one.program.split("/")[3] for one in measured} == set(programs)
    assert (tmp_path / "pages/npb-llvm10-v0.svg").read_text().startswith("<?xml")
    monkeypatch.setattr("sys.argv", ["", "blas-llvm10-v0", "--folder", str(tmp_path / "pages")])
    with pytest.raises(SystemExit, match="datasets install blas-llvm10-v0"):
        main()


def test_a_plot_and_a_summary_come_from_the_numbers(tmp_path: Path) -> None:
    measured = [Character("a", 10, 0.1, 0.5, 0.2), Character("b", 1000, 0.3, 0.1, 0.2)]
    draw(measured, "two", tmp_path / "two.svg")
    assert "two: 2 programs" in (tmp_path / "two.svg").read_text()
    assert summary(measured)[0] == ("instructions", "10", "505", "1,000")
    assert summary(measured)[1] == ("branches", "10.0%", "20.0%", "30.0%")
