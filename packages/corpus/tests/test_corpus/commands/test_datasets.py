# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets.bundled import find_bundled_folder
from test_corpus.packages.built import write_package
from tests.command_line import Run

FUNCTIONS = {
    f"f{number}.c": f"int f{number}(int x) {{ return x * {number}; }}\n" for number in range(8)
}


@pytest.fixture
def own(cli: Run, tmp_path: Path) -> Run:
    """Run commands with a site directory of their own."""

    def run(*arguments: str, **environment: str) -> Any:
        site = str(tmp_path / "site")
        return cli("datasets", *arguments, COMPILER_GYM_SITE_DATA=site, **environment)

    return run


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder of functions, one of them twice."""
    folder = tmp_path / "functions"
    folder.mkdir()
    for name, text in FUNCTIONS.items():
        (folder / name).write_text(text)
    (folder / "again.c").write_text(FUNCTIONS["f1.c"])
    (folder / "empty.c").write_text("")
    return folder


def test_a_folder_becomes_a_dataset_that_can_be_used_and_removed(
    own: Run, cli: Run, programs: Path, tmp_path: Path
) -> None:
    done = own("import", "mine-v0", str(programs), "--license", "MIT", "--json").json
    assert (done["added"], done["duplicates"], done["unreadable"]) == (8, 1, 1)
    listed = {entry["name"]: entry for entry in own("--json").json["datasets"]}
    mine = listed["benchmark://mine-v0"]
    assert (mine["programs"], mine["license"], mine["installed"]) == (8, "MIT", True)
    assert mine["bytes"] > 0
    site = str(tmp_path / "site")
    ran = cli("run", "benchmark://mine-v0/f3.c", "sroa", "--json", COMPILER_GYM_SITE_DATA=site)
    assert ran.status == 0, ran.errors
    assert own("verify", "mine-v0", "--json").json == {"datasets": {"benchmark://mine-v0": []}}
    assert "removed" in own("remove", "mine-v0").output
    assert "benchmark://mine-v0" not in own("--json").output


def test_people_see_what_an_import_could_not_read(own: Run, programs: Path) -> None:
    ran = own("import", "mine-v0", str(programs))
    assert "8 programs added, 1 duplicates" in ran.output
    assert "cannot read empty.c" in ran.errors
    own("import", "cpp-v0", str(programs), "--suffix", ".cpp")
    assert own("import", "cpp-v0", str(programs), "--suffix", ".cpp").status == 2


def test_an_altered_corpus_is_found(own: Run, programs: Path, tmp_path: Path) -> None:
    own("import", "mine-v0", str(programs))
    (path,) = tmp_path.rglob("corpus.sqlite")
    data = bytearray(path.read_bytes())
    for offset in range(len(data) // 4, len(data)):
        data[offset] ^= 0x55
    path.write_bytes(data)
    ran = own("verify", "mine-v0")
    assert ran.status in (1, 2)
    assert "mine-v0" in ran.output + ran.errors


def test_a_damaged_corpus_is_listed_verified_and_removed(
    own: Run, programs: Path, tmp_path: Path
) -> None:
    own("import", "mine-v0", str(programs))
    (path,) = tmp_path.rglob("corpus.sqlite")
    path.write_bytes(b"x" * 100)
    listed = {entry["name"]: entry for entry in own("--json").json["datasets"]}
    mine = listed["benchmark://mine-v0"]
    assert (mine["installed"], mine["programs"], mine["bytes"]) == (False, None, 100)
    assert mine["needs"] == "import it again: it is damaged"
    ran = own("verify")
    assert ran.status == 1
    assert "file is not a database" in ran.output
    assert "removed" in own("remove", "mine-v0").output
    assert not path.exists()


def test_a_corpus_cannot_hide_a_dataset_of_ours(own: Run, programs: Path, tmp_path: Path) -> None:
    from compiler_gym.datasets import import_corpus

    import_corpus("cbench-v1", programs, site_data_base=tmp_path / "site")
    ran = own("--json")
    listed = {entry["name"]: entry for entry in ran.json["datasets"]}
    assert listed["benchmark://cbench-v1"]["programs"] == 23
    assert "import it under a different name" in ran.errors


def test_a_dataset_is_exported_and_imported_again(own: Run, programs: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    own("import", "mine-v0", str(programs))
    table = str(tmp_path / "mine.parquet")
    assert own("export", "mine-v0", table, "--json").json["programs"] == 8
    assert own("import", "copy-v0", table, "--json").json["added"] == 8
    limited = own("export", "mine-v0", table, "--limit", "2", "--json").json
    assert limited["programs"] == 2


def test_samples_repeat_with_their_seed(own: Run, programs: Path, tmp_path: Path) -> None:
    own("import", "mine-v0", str(programs))
    arguments = ("sample", "mine-v0", "-n", "3", "--seed", "5")
    first = own(*arguments).output.split()
    assert first == own(*arguments).output.split()
    assert len(first) == 3
    assert all(uri.startswith("benchmark://mine-v0/") for uri in first)
    found = own(*arguments, "--output", "some", "--json").json["programs"]
    for entry in found:
        data = (tmp_path / entry["path"]).read_bytes()
        assert data[:4] == b"BC\xc0\xde"
        assert len(data) == entry["bytes"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("install", "npb-llvm10-v1"), "did you mean benchmark://npb-llvm10-v0"),
        (("remove", "cbench-v1"), "cannot be removed"),
        (("verify", "npb-llvm10-v0"), "is not installed"),
        (("import", "cbench-v1", "."), "the name of an existing dataset"),
        (("import", "mine-v0", "missing"), "no such file or directory"),
        (("import", "a/b", "."), "is not a dataset name"),
        (("export", "generator://llvm-stress-v0", "x.parquet"), "set a limit|apt install"),
        (("sample", "nothing-v0"), "no dataset"),
    ],
)
def test_requests_that_cannot_be_served_are_one_line(
    arguments: tuple[str, ...], message: str, own: Run
) -> None:
    import re

    ran = own(*arguments)
    assert ran.status == 2
    assert re.search(message, ran.errors), ran.errors
    assert "Traceback" not in ran.errors


def test_a_site_that_cannot_be_written_is_reported(own: Run, tmp_path: Path) -> None:
    # Nothing listens at this proxy, so no request leaves the machine.
    proxy = "http://127.0.0.1:9"
    site = tmp_path / "site"
    site.write_text("a file where a directory should be")
    ran = own("install", "npb-llvm10-v0", HTTPS_PROXY=proxy, HTTP_PROXY=proxy)
    assert ran.status == 2
    assert "set COMPILER_GYM_SITE_DATA" in ran.errors or "cannot write" in ran.errors
    assert site.is_file()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two targets as CMake lists it; one file does not compile."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.c").write_text("int b(void); int main(void) { return b(); }\n")
    (folder / "b.c").write_text("int b(void) { return 7; }\n")
    (folder / "bad.c").write_text("int main(void) { return nothing; }\n")
    entries = [
        {
            "directory": str(folder),
            "file": name,
            "arguments": ["cc", "-O2", "-c", name, "-o", f"CMakeFiles/{target}.dir/{name}.o"],
        }
        for target, name in (("app", "a.c"), ("app", "b.c"), ("broken", "bad.c"))
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return folder / "compile_commands.json"


@pytest.mark.parametrize(
    ("options", "names"), [((), ["a.c.bc", "b.c.bc"]), (("--linked",), ["app.bc"])]
)
def test_a_compilation_database_becomes_a_dataset(
    own: Run, cli: Run, project: Path, tmp_path: Path, options: tuple[str, ...], names: list[str]
) -> None:
    done = own("import", "project-v0", str(project), "--json", *options).json
    assert (done["added"], done["unreadable"]) == (len(names), 1)
    assert "nothing" in done["problems"][0][1]
    site = str(tmp_path / "site")
    for name in names:
        program = f"benchmark://project-v0/{name}"
        ran = cli("run", program, "sroa", "--json", COMPILER_GYM_SITE_DATA=site)
        assert ran.status == 0, ran.errors


def test_programs_that_cannot_start_are_distinguished_on_request(
    own: Run, programs: Path, tmp_path: Path
) -> None:
    (programs / "broken.c").write_text("int f(void) { return g; }\n")
    done = own("import", "checked-v0", str(programs), "--check", "--json").json
    assert (done["added"], done["unreadable"]) == (8, 2)
    reasons = dict(done["problems"])
    assert "undeclared identifier 'g'" in reasons["broken.c"]
    assert str(tmp_path) not in reasons["broken.c"]


def test_linking_needs_a_compilation_database(own: Run, programs: Path) -> None:
    refused = own("import", "linked-v0", str(programs), "--linked")
    assert refused.status != 0
    assert "needs a compile_commands.json" in refused.errors


def test_a_folder_of_built_packages_becomes_a_dataset_with_splits(own: Run, tmp_path: Path) -> None:
    folder = tmp_path / "built"
    for package, program in (("zlib", "crc32"), ("expat", "qsort"), ("lz4", "qsort")):
        bitcode = (find_bundled_folder() / program / f"{program}.bc").read_bytes()
        write_package(folder, package, {f"{program}.c": bitcode})
    done = own("import", "debian-v0", str(folder), "--json").json
    assert (done["packages"], done["modules"], done["duplicates"]) == (3, 2, 1)
    assert sum(done["splits"].values()) == 2
    assert own("verify", "debian-v0").output == "benchmark://debian-v0: unchanged\n"
    said = own("import", "debian-v0", str(folder)).output
    assert "2 modules and 0 linked programs of 3 packages" in said
    assert (tmp_path / "site/benchmark/debian-v0/built").resolve() == folder
    own("remove", "debian-v0")
    assert not (tmp_path / "site/benchmark/debian-v0").exists()
    assert folder.is_dir()
