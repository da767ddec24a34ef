"""A tree of a system is unpacked once, and what a package adds does not change it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.packages import roots
from compiler_gym_corpus.packages.roots import base_tree, clone_tree

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb on PATH")

POSTINST = (
    "#!/bin/sh\nver=2\n"
    "update-alternatives --install /usr/bin/tool tool \\\n\t/usr/bin/tool-$ver 5 \\\n"
    "\t--slave /usr/bin/other other /usr/bin/nothing\n"
    "touch /usr/evil\n"
)


def archive(folder: Path, name: str, files: dict[str, str], postinst: str = "") -> Path:
    tree = folder / name
    for path, text in {"DEBIAN/control": "", **files}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (tree / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: x\n"
    )
    if postinst:
        (tree / "DEBIAN/postinst").write_text(postinst)
        (tree / "DEBIAN/postinst").chmod(0o755)
    made = folder / f"{name}.deb"
    subprocess.run(["dpkg-deb", "-b", tree, made], check=True, capture_output=True)
    return made


def test_a_tree_has_the_files_the_merged_folders_and_the_alternatives(tmp_path: Path) -> None:
    deb = archive(tmp_path, "a", {"usr/bin/tool-2": "x", "bin/sh": "y"}, POSTINST)

    tree = base_tree(tmp_path / "trees", [deb])

    assert (tree / "bin").is_symlink()
    assert (tree / "usr/bin/sh").read_text() == "y"
    assert (tree / "usr/bin/tool").readlink() == Path("/usr/bin/tool-2")
    assert not (tree / "usr/bin/other").is_symlink()
    assert "builder" in (tree / "etc/passwd").read_text()
    assert not list(tree.rglob("evil"))


def test_a_tree_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deb = archive(tmp_path, "a", {"usr/x": "1"})
    tree = base_tree(tmp_path / "trees", [deb])
    monkeypatch.setattr(roots, "_unpack_archives", pytest.fail)

    assert base_tree(tmp_path / "trees", [deb]) == tree


def test_a_copy_changes_and_ends_without_the_original(tmp_path: Path) -> None:
    first = archive(tmp_path, "a", {"usr/x": "1", "usr/y": "1"})
    second = archive(tmp_path, "b", {"usr/x": "2"})
    tree = base_tree(tmp_path / "trees", [first])

    with clone_tree(tree, [second]) as copy:
        assert (copy / "usr/x").read_text() == "2"
        assert (copy / "usr/y").samefile(tree / "usr/y")

    assert (tree / "usr/x").read_text() == "1"
    assert not copy.exists()
    assert [path.name for path in tree.parent.iterdir()] == [tree.name]


def test_an_invalid_package_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.deb").write_text("nothing")

    with pytest.raises(DatasetInitError, match=r"cannot unpack x\.deb"):
        base_tree(tmp_path / "trees", [tmp_path / "x.deb"])

    assert not [path for path in (tmp_path / "trees").iterdir() if path.is_dir()]
