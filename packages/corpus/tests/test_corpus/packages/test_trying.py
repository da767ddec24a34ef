"""The tests of a built tree are found in its build files, and the tree is kept for them."""

import tarfile
from pathlib import Path

import pytest

from compiler_gym.datasets.fetching import zstd
from compiler_gym_corpus.packages.trying import keep_tree
from compiler_gym_corpus.packages.trying import test_command as command_of


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Makefile": "all:\n\ntest: all\n\ncheck:\n"}, (("/usr/bin/make", "check"), ".")),
        ({"build/Makefile": "test:\n"}, (("/usr/bin/make", "test"), "build")),
        (
            {"obj-x86_64-linux-gnu/build.ninja": ""},
            (("/usr/bin/ninja", "test"), "obj-x86_64-linux-gnu"),
        ),
        ({"Makefile": "tests = x\n"}, None),
        ({"Makefile": "check:\n", "debian/rules": "override_dh_auto_test:\n\nx:\n"}, None),
        (
            {"Makefile": "check:\n", "debian/rules": "override_dh_auto_test:\n\tmake check\n"},
            (("/usr/bin/make", "check"), "."),
        ),
    ],
)
def test_the_command_that_runs_the_tests_is_found(
    tmp_path: Path, files: dict[str, str], expected: object
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    assert command_of(tmp_path) == expected


def test_a_tree_is_packed_with_its_links_as_links(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "b").mkdir(parents=True)
    (tree / "b" / "run").write_text("x")
    (tree / "link").symlink_to("/etc/passwd")

    assert keep_tree(tree, tmp_path / "tree.tar.zst", 1 << 20)

    with zstd.ZstdFile(tmp_path / "tree.tar.zst") as stream, tarfile.open(fileobj=stream) as kept:
        assert [(one.name, one.issym()) for one in kept] == [
            ("b", False),
            ("b/run", False),
            ("link", True),
        ]


def test_a_large_tree_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 1000)

    assert not keep_tree(tmp_path, tmp_path / "no", 10)
    assert not (tmp_path / "no").exists()
