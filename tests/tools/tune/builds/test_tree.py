# SPDX-License-Identifier: MIT
"""A copy holds what the project is, and none of the objects that a build made of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import Protection, copy_tree, digest_files
from compiler_gym.tools.tune.builds import tree as tree_module
from tests.tools.tune.builds.projects import write_project

needs_tool = pytest.mark.skipif(
    tree_module._tool() is None,  # pyright: ignore[reportPrivateUsage]
    reason="needs bubblewrap that can make a folder unwritable",
)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_build_outputs_are_left_out(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    subprocess.run(["make"], cwd=tree, check=True, capture_output=True)
    (tree / "data.a").write_text("no archive")
    (tree / "link").symlink_to("main.c")
    copy_tree(tree, tmp_path / "copy")
    linked = {"program", "libtwice.a"}
    expected = {"main.c", "twice.c", "Makefile", "data.a", "link", *linked}
    assert names(tmp_path / "copy") == expected
    again = subprocess.run(["make"], cwd=tmp_path / "copy", check=True, capture_output=True).stdout
    assert again.count(b" -c ") == 2
    assert b"-o program" in again
    assert (tmp_path / "copy" / "link").is_symlink()


def test_objects_of_link_time_optimisation_are_left_out_and_other_bitcode_stays(
    tmp_path: Path,
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("main.o", "input.bc"):
        (tree / name).write_bytes(b"BC\xc0\xde" + bytes(60))
    copy_tree(tree, tmp_path / "copy")
    assert names(tmp_path / "copy") == {"input.bc"}


def test_objects_that_git_keeps_are_part_of_the_project(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    subprocess.run(["make"], cwd=tree, check=True, capture_output=True)
    for words in (["init", "-q"], ["add", "-f", "twice.o"]):
        subprocess.run(["git", *words], cwd=tree, check=True)
    copy_tree(tree, tmp_path / "copy")
    linked = {"program", "libtwice.a"}
    assert names(tmp_path / "copy") == {"main.c", "twice.c", "Makefile", "twice.o", *linked}


def test_programs_and_objects_of_other_machines_are_data(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    subprocess.run(["make"], cwd=tree, check=True, capture_output=True)
    other = bytearray((tree / "main.o").read_bytes())
    other[18:20] = (8).to_bytes(2, "little")  # MIPS
    (tree / "data").write_bytes(other)
    copy_tree(tree, tmp_path / "copy")
    assert (tmp_path / "copy" / "data").read_bytes() == bytes(other)
    assert (tmp_path / "copy" / "program").is_file()


def test_folders_can_be_left_out(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    (tree / "tuned" / "bin").mkdir(parents=True)
    copy_tree(tree, tree / "tuned" / "copy", leave_out=[tree / "tuned"])
    assert names(tree / "tuned" / "copy") == {"main.c", "twice.c", "Makefile"}


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot copy"):
        copy_tree(tmp_path / "missing", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_no_link_of_the_copy_leads_into_the_project(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    (tmp_path / "alias").symlink_to(tree)
    (tmp_path / "outside.c").write_text("outside")
    (tree / "sub").mkdir()
    inside = {
        "absolute": tree / "main.c", "folder": tree / "sub", "around": Path("../tree/main.c"),
        "by-alias": tmp_path / "alias" / "main.c", "alias": tmp_path / "alias",
        "sub/up": Path("../../tree/main.c"), "sub/plain": Path("../main.c"),
        "missing": tree / "missing.c",
    }  # fmt: skip
    outside = {"out": tmp_path / "outside.c", "sub/out": Path("../../outside.c")}
    for name, told in (inside | outside).items():
        (tree / name).symlink_to(told)
    (tree / "loop").symlink_to(tree / "loop")
    copy = tmp_path / "elsewhere" / "copy"
    copy.parent.mkdir()
    copy_tree(tree, copy)
    for name in inside:
        assert (copy / name).is_symlink()
        assert (copy / name).resolve().is_relative_to(copy), name
    (copy / "missing").write_text("made")
    assert not (tree / "missing.c").exists()
    assert [(copy / name).read_text() for name in outside] == ["outside"] * 2
    assert (copy / "loop").is_symlink()


def test_pipes_and_sockets_are_left_out(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    os.mkfifo(tree / "pipe")
    copy_tree(tree, tmp_path / "copy")
    assert names(tmp_path / "copy") == {"main.c", "twice.c", "Makefile"}
    assert digest_files(tree).keys() == {"main.c", "twice.c", "Makefile"}


def test_cargo_outputs_are_left_out(tmp_path: Path) -> None:
    for name in ("target/.rustc_info.json", "target/release/app", "src/target/main.rs"):
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text("")
    copy_tree(tmp_path / "project", tmp_path / "copy")
    assert os.listdir(tmp_path / "copy") == ["src"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "out").mkdir(parents=True)
    (folder / "a.c").write_text("a")
    return folder


@needs_tool
def test_a_folder_cannot_be_written_but_for_what_may(project: Path) -> None:
    (project.parent / "alias").symlink_to(project)
    protection = Protection.of(project.parent / "alias", [project / "out"])
    for text, status in (("echo b > a.c", 1), ("echo b > out/b", 0), ("echo b > ../b", 0)):
        words = protection.wrap(["sh", "-c", f"( {text} ) || exit 1"])
        assert subprocess.run(words, cwd=project, check=False).returncode == status, text
    assert (project / "a.c").read_text() == "a"
    assert protection.list_changed() == []


def test_changed_files_are_listed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "_tool", lambda: None)
    protection = Protection.of(project, [project / "out"])
    assert protection.wrap(["true"]) == ["true"]
    (project / "out" / "made").touch()
    assert protection.list_changed() == []
    (project / "a.c").write_text("b")
    (project / "made.o").write_bytes(b"\x7fELF")
    assert protection.list_changed() == ["a.c", "made.o"]
    code = "import sys; from pathlib import Path\n"
    code += "from compiler_gym.tools.tune.builds import Protection\n"
    code += (
        "p = Protection.of(Path('.'), []); print('x', flush=True); sys.exit(len(p.list_changed()))"
    )
    with (project / "log").open("w") as log:
        words = [sys.executable, "-c", code]
        assert subprocess.run(words, cwd=project, stdout=log, check=False).returncode == 0
