# SPDX-License-Identifier: MIT
"""A project made here goes the whole way; the real ones need a network and are only read."""

import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from scripts.projects import fetching
from scripts.projects.building import BUILDS, Build, build, run
from scripts.projects.measuring import instructions, seconds, sizes
from scripts.projects.table import HERE, Project, chosen, projects

_OZ = next(way for way in BUILDS if way.name == "clang -Oz")
_O3 = next(way for way in BUILDS if way.name == "clang -O3")

needs_clang = pytest.mark.skipif(
    not (shutil.which("clang-22") and shutil.which("ld.lld-22") and shutil.which("make")),
    reason="clang-22, lld-22 or make is missing",
)


def test_the_table_has_eight_projects_with_everything_they_need() -> None:
    assert len(projects()) == 8
    for project in projects():
        assert bool(project.debian) != bool(project.pypi)
        assert len(project.sha256) == 64
        for file in ("test.lua", "bench.lua", "bench.awk", "bench.jq", "bench.sql", "sqlite3.mk"):
            asked = f"$INPUTS/{file}" in project.prepare + project.test + project.bench
            assert not asked or (HERE / "inputs" / file).exists()
        assert "$PART" in project.bench or "/ PART" in project.bench
        assert "$RUN" in project.bench


def test_an_unknown_project_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SystemExit, match=r"No project is called bzip; there are zlib, .*bzip2"):
        chosen(["bzip"])


@pytest.fixture
def small(tmp_path: Path) -> Project:
    """Return a project whose sources lie below `tmp_path`, packed as a registry would."""
    source = tmp_path / "small-1.0"
    source.mkdir()
    (source / "main.c").write_text(
        "#include <stdio.h>\nint main(void) { int s = 0; for (int i = 0; i < 1000; i++) s += i % 7;"
        '\n  printf("%d\\n", s); return 0; }\n'
    )
    (source / "Makefile").write_text("small: main.c\n\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<\n")
    archive = tmp_path / "downloads" / "small.tar.gz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(source, "small-1.0")
    return Project(
        name="small",
        about="",
        archive=archive.name,
        sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
        build="make",
        binary="small",
        test='test "$(./small)" = 2997',
        bench="$RUN ./small",
        prepare="echo 'all: small' >>Makefile",
        debian="small",
    )


@needs_clang
def test_a_project_is_fetched_built_tested_and_measured(small: Project, tmp_path: Path) -> None:
    source = fetching.fetch(small, tmp_path)
    assert (source / "Makefile").read_text().endswith("all: small\n")
    folders = [build(small, way, tmp_path) for way in (_OZ, _O3)]
    assert not (source / "small").exists()
    for folder in folders:
        run(small.test, folder, tmp_path)
        assert seconds(small, folder, tmp_path)[1] == b"2997\n"
        found = sizes(folder / "small")
        told = subprocess.run(
            ["llvm-size-22", "-A", folder / "small"], capture_output=True, text=True, check=True
        ).stdout
        (text,) = (row.split()[1] for row in told.splitlines() if row.startswith(".text"))
        assert found.text == int(text) > 0
        assert found.text < found.total < (folder / "small").stat().st_size


@needs_clang
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is missing")
def test_instructions_are_those_of_the_judged_binary(small: Project, tmp_path: Path) -> None:
    fetching.fetch(small, tmp_path)
    fast, slow = (build(small, way, tmp_path) for way in (_O3, Build("O0", "clang-22", "-O0")))
    few, many = (instructions(small, folder, tmp_path, part=1) for folder in (fast, slow))
    assert 1000 * 3 < many - few < 1000 * 100


@needs_clang
def test_the_script_next_to_the_sources_builds_the_same(small: Project, tmp_path: Path) -> None:
    fetching.fetch(small, tmp_path)
    copy = shutil.copytree(tmp_path / "small" / "source", tmp_path / "copy")
    subprocess.run([tmp_path / "small" / "build.sh"], cwd=copy, check=True, capture_output=True)
    assert sizes(copy / "small") == sizes(build(small, _OZ, tmp_path) / "small")


def test_a_file_that_is_not_the_expected_one_is_refused_and_removed(
    small: Project, tmp_path: Path
) -> None:
    archive = tmp_path / "downloads" / small.archive
    archive.write_bytes(b"something else")
    with pytest.raises(SystemExit, match=f"expected sha256 {small.sha256}, found"):
        fetching.fetch(small, tmp_path)
    assert not archive.exists()


def test_a_line_that_fails_says_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"exit code 3 of: echo why; exit 3\nwhy"):
        run("echo why; exit 3", tmp_path, tmp_path)
    with pytest.raises(SystemExit, match=r"not done in 0 s: sleep 5"):
        run("sleep 5", tmp_path, tmp_path, seconds=0.05)
