# SPDX-License-Identifier: MIT
"""Whatever an archive holds, it is unpacked into its tree or refused."""

import io
import os
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.packages.roots import base_tree, clone_tree

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb on PATH")

Member = tuple[str, bytes, str | bytes]


def package(folder: Path, name: str, members: list[Member], postinst: str = "") -> Path:
    """Return a ``.deb`` with exactly these members: name, type, and contents or target."""
    folder.mkdir(parents=True, exist_ok=True)
    control = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: x\n"
    scripts: list[Member] = [("./control", tarfile.REGTYPE, control.encode())]
    if postinst:
        scripts.append(("./postinst", tarfile.REGTYPE, postinst.encode()))
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar": packed(scripts),
        "data.tar": packed(members),
    }
    made = folder / f"{name}.deb"
    for part, data in parts.items():
        (folder / part).write_bytes(data)
    made.unlink(missing_ok=True)
    subprocess.run(["ar", "rc", made.name, *parts], cwd=folder, check=True)
    return made


def packed(members: list[Member]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o6755
            if isinstance(content, str):
                info.linkname = content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


FILE, LINK, HARD, FOLDER = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "victim").write_text("as it was")
    return folder


def is_untouched(outside: Path) -> bool:
    names = [path.name for path in outside.iterdir()]
    return names == ["victim"] and (outside / "victim").read_text() == "as it was"


@pytest.mark.parametrize("in_two", [False, True])
@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_file_after_a_link_to_a_folder_stays_in_the_tree(
    tmp_path: Path, outside: Path, in_two: bool, is_absolute: bool
) -> None:
    target = str(outside) if is_absolute else "../" * 30 + str(outside).lstrip("/")
    link: list[Member] = [("./usr/a", LINK, target)]
    rest: list[Member] = [
        ("./usr/a/victim", FILE, b"changed"),
        ("./usr/a/more", FILE, b"more"),
        ("./usr/a/folder", FOLDER, ""),
        ("./usr/a/folder/b", FILE, b"more"),
    ]
    parts = [link, rest] if in_two else [link + rest]
    archives = [package(tmp_path / str(i), f"p{i}", part) for i, part in enumerate(parts)]
    tree = base_tree(tmp_path / "trees", archives)
    assert is_untouched(outside)
    assert (tree / str(outside).lstrip("/") / "more").read_text() == "more"


@pytest.mark.parametrize(
    "name", ["../outside/new", "./usr/../../outside/new", "/../outside/new", "usr/a/../../../x"]
)
def test_a_name_that_leaves_the_tree_is_refused(tmp_path: Path, outside: Path, name: str) -> None:
    with pytest.raises(DatasetInitError, match="points outside its tree"):
        base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", [(name, FILE, b"x")])])
    assert is_untouched(outside)


def test_an_absolute_name_lies_in_the_tree(tmp_path: Path, outside: Path) -> None:
    deb = package(tmp_path / "p", "p", [(f"{outside}/victim", FILE, b"x")])
    tree = base_tree(tmp_path / "trees", [deb])
    assert (tree / str(outside).lstrip("/") / "victim").read_text() == "x"
    assert is_untouched(outside)


@pytest.mark.parametrize(
    "target", ["../../outside/victim", "{outside}/victim", "usr/link", "usr/folder"]
)
def test_a_hard_link_leads_to_a_file_of_the_tree_or_is_refused(
    tmp_path: Path, outside: Path, target: str
) -> None:
    members: list[Member] = [
        ("./usr/link", LINK, str(outside / "victim")),
        ("./usr/folder", FOLDER, ""),
        ("./usr/hard", HARD, target.format(outside=outside)),
    ]
    with pytest.raises(DatasetInitError, match=r"p\.deb|outside its tree"):
        base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", members)])
    assert (outside / "victim").stat().st_nlink == 1


def test_a_file_in_place_of_a_link_replaces_the_link(tmp_path: Path, outside: Path) -> None:
    members: list[Member] = [
        ("./usr/a", LINK, str(outside / "victim")),
        ("./usr/a", FILE, b"changed"),
        ("./etc/passwd", LINK, str(outside / "victim")),
        ("./etc/group", LINK, str(outside / "new")),
    ]
    tree = base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", members)])
    assert (tree / "usr/a").read_text() == "changed"
    assert "builder" in (tree / "etc/passwd").read_text()
    assert is_untouched(outside)


def test_a_folder_in_place_of_a_link_to_a_folder_keeps_the_link(tmp_path: Path) -> None:
    members: list[Member] = [
        ("./usr/a", LINK, "/etc/new"),
        ("./usr/a", FOLDER, ""),
        ("./usr/a/x", FILE, b"x"),
        ("./bin/y", FILE, b"y"),
    ]
    tree = base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", members)])
    assert (tree / "usr/a").is_symlink()
    assert (tree / "etc/new/x").read_text() == "x"
    assert (tree / "usr/bin/y").read_text() == "y"


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    members: list[Member] = [
        ("./usr/a", LINK, "b"), ("./usr/b", LINK, "a"), ("./usr/a/c", FILE, b"x"),
    ]  # fmt: skip
    with pytest.raises(DatasetInitError, match="circular links"):
        base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", members)])


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_a_device_is_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(DatasetInitError, match="not a file, a folder or a link"):
        base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", [("./usr/d", kind, "")])])


def test_no_program_has_special_rights(tmp_path: Path) -> None:
    members: list[Member] = [("./usr/bin/su", FILE, b"x"), ("./usr/folder", FOLDER, "")]
    tree = base_tree(tmp_path / "trees", [package(tmp_path / "p", "p", members)])
    for path in (tree / "usr/bin/su", tree / "usr/folder"):
        assert not path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)
    assert os.access(tree / "usr/bin/su", os.X_OK)


@pytest.mark.parametrize(
    "link",
    ["/usr/bin/../../../outside/new", "/usr/bin/../../etc/new", "/usr/bin/a/b", "/usr/bin/.."],
)
def test_an_alternative_is_a_program_of_the_tree(tmp_path: Path, outside: Path, link: str) -> None:
    script = f"update-alternatives --install {link} x /usr/tool 5\n"
    deb = package(tmp_path / "p", "p", [("./usr/tool", FILE, b"x")], script)
    tree = base_tree(tmp_path / "trees", [deb])
    assert is_untouched(outside)
    assert not os.path.lexists(tree / "etc/new")
    assert sorted(os.listdir(tree / "usr/bin")) == []


def test_a_package_that_comes_later_changes_no_file_of_the_base(tmp_path: Path) -> None:
    base = base_tree(tmp_path / "trees", [package(tmp_path / "1", "a", [("./usr/x", FILE, b"1")])])
    later: list[Member] = [("./usr/y", HARD, "./usr/x"), ("./usr/y", FILE, b"2")]
    with clone_tree(base, [package(tmp_path / "2", "b", later)]) as copy:
        assert (copy / "usr/y").read_text() == "2"
    assert (base / "usr/x").read_text() == "1"
