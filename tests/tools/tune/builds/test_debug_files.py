# SPDX-License-Identifier: MIT
import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import read_code
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import (
    Binary,
    Driver,
    debug_name,
    exchange_files,
    find_binaries,
    name_objects,
    run_command,
    split_commands,
    with_debug,
    with_own_debug,
)
from tests.stand_ins import always
from tests.tools.tune.builds.projects import record, write_project


def recorded(folder: Path, flags: str = "-O1", link: str = "") -> Binary:
    tree = write_project(folder / "tree")
    made = record(tree, folder / "record", "make", f"CFLAGS={flags}", f"LDFLAGS={link}")
    (binary,) = find_binaries(made.events(), tree)
    return binary


def make(binary: Binary, folder: Path) -> Path:
    """Compile and link `binary` again, as a tuner does."""
    driver = Driver(("cc",), ("c++",))
    folder.mkdir()
    objects = name_objects(binary, folder)
    for unit, path in objects.items():
        path.parent.mkdir()
        run_command(driver.compile_words(unit, ["-O2", "-g0"], path), unit.command.cwd)
    exchange = exchange_files(binary, objects, folder)
    for step in exchange.steps:
        step.run()
    words = driver.link_words(binary, exchange, [], folder / "made")
    run_command(words, binary.command.cwd)
    return folder / "made"


def debug_sections(path: Path) -> bool:
    shown = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True)
    return ".debug_info" in shown.stdout


def test_debug_information_lies_next_to_the_binary_and_is_found_by_its_name(tmp_path: Path) -> None:
    binary = recorded(tmp_path)
    plain = make(binary, tmp_path / "plain")
    assert not debug_sections(plain)
    built = make(with_debug(binary), tmp_path / "debug")
    target = tmp_path / "program"
    for words in split_commands(built, target):
        run_command(words, tmp_path)
    debug = Path(debug_name(str(target)))
    assert debug_sections(debug)
    assert not debug_sections(target)
    assert read_code(target) == read_code(plain)
    shown = subprocess.run(["readelf", "-p", ".gnu_debuglink", target], capture_output=True)
    assert b"program.debug" in shown.stdout
    assert str(tmp_path).encode() not in debug.read_bytes()  # the same in any tree


@pytest.mark.parametrize(
    ("flags", "link", "words"),
    [
        ("-O2 -g -gdwarf-4", "", ("-g", "-gdwarf-4")),
        ("-O2 -g -g0", "", ()),
        ("-O2", "", ()),
        ("-O2 -g", "-s", ()),
    ],
)
def test_a_build_keeps_its_own_options(
    tmp_path: Path, flags: str, link: str, words: tuple[str, ...]
) -> None:
    binary = with_own_debug(recorded(tmp_path, flags, link))
    assert {unit.command.debug for unit in binary.units} == {words}
    assert binary.command.debug == words
    assert debug_sections(make(binary, tmp_path / "made")) == bool(words)


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", always(None))
    with pytest.raises(ProjectError, match="objcopy not found"):
        split_commands(tmp_path, tmp_path)
