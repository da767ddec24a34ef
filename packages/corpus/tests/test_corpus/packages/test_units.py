"""What a build compiled is read from its journal, and nothing outside of the package is."""

import json
from pathlib import Path

import pytest

from compiler_gym.tools.tune.builds import Recording
from compiler_gym_corpus.packages.units import BuiltTree

INSIDE = "/run/build/x-1"


@pytest.fixture
def tree(tmp_path: Path) -> BuiltTree:
    (tmp_path / "x-1").mkdir()
    (tmp_path / "root" / "usr").mkdir(parents=True)
    for name in ("a.c", "conftest.c"):
        (tmp_path / "x-1" / name).write_text("int x;")
    return BuiltTree(INSIDE, tmp_path / "x-1", tmp_path / "root")


def recording(tree: BuiltTree, *events: tuple[str, str, dict[str, str]]) -> Recording:
    folder = tree.path.parent
    lines = [
        json.dumps({"words": words.split(), "cwd": cwd, "made": made})
        for words, cwd, made in events
    ]
    (folder / "commands.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return Recording(folder, tree.path)


def test_a_unit_is_known_by_both_its_names(tree: BuiltTree) -> None:
    command = (f"gcc -I{INSIDE}/h -I/usr/h -c {INSIDE}/a.c", INSIDE, {"a.o": "ab"})
    events = list(tree.events(recording(tree, command)))
    units, gone = tree.units(events)

    ((outside, found),) = units.items()

    assert outside.path == tree.path / "a.c"
    assert found.unit.command.flags == (f"-I{INSIDE}/h", "-I/usr/h")
    assert (found.file, found.folder, gone) == ("a.c", ".", [])
    assert found.words == ("gcc", "-I./h", "-I/usr/h", "-c", "./a.c")


def test_trials_are_not_units_and_missing_files_are_reported(tree: BuiltTree) -> None:
    events = list(
        tree.events(
            recording(
                tree,
                ("gcc -c conftest.c", INSIDE, {"conftest.o": "ab"}),
                ("gcc -c gone.c", INSIDE, {"gone.o": "cd"}),
            )
        )
    )

    assert tree.units(events) == ({}, ["gone.c"])


@pytest.mark.parametrize(
    ("words", "cwd", "made"),
    [
        ("gcc -c a.c", "/etc", {"a.o": "ab"}),
        ("gcc -c a.c", f"{INSIDE}/../..", {"a.o": "ab"}),
        ("gcc -c @/etc/passwd", INSIDE, {"a.o": "ab"}),
        ("gcc -c a.c -o ../../x.o", INSIDE, {"../../x.o": "ab"}),
        ("gcc zero -o run", INSIDE, {"run": "ab"}),
    ],
)
def test_an_event_that_leads_elsewhere_is_left_out(
    tree: BuiltTree, words: str, cwd: str, made: dict[str, str]
) -> None:
    (tree.path / "zero").symlink_to("/dev/zero")

    assert list(tree.events(recording(tree, (words, cwd, made)))) == []


def test_a_journal_that_is_a_link_is_not_read(tree: BuiltTree) -> None:
    (tree.path.parent / "commands.jsonl").symlink_to("/etc/passwd")

    assert list(tree.events(Recording(tree.path.parent, tree.path))) == []
