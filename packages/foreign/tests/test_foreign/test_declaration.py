# SPDX-License-Identifier: MIT
"""A TOML file declares a compiler, and says where it is wrong."""

import os
from pathlib import Path

import pytest

from compiler_gym.errors import PluginError
from compiler_gym_foreign import plugin_files, read_plugin

LEAST = 'name = "a"\nservice = ["./a"]\nenvironments = [{id = "a-v0"}]\n'


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.toml").write_text(LEAST.replace('["./a"]', '["./a", "{folder}/b", "./c"]'))
    monkeypatch.chdir(tmp_path)
    for file in ("a.toml", tmp_path / "a.toml"):
        plugin = read_plugin(file)
        assert plugin.service == (f"{tmp_path}/./a", f"{tmp_path}/b", "./c")
        assert plugin.folder == str(tmp_path)
        assert plugin.carrier == "descriptor"


def test_a_program_without_a_path_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(LEAST.replace("./a", "python"))
    assert read_plugin(tmp_path / "a.toml").service == ("python",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "missing required field `name`"),
        ("name = 1", "Expected `str`, got `int`"),
        ("not toml", "is not a valid plug-in"),
        (LEAST + "colour = 3", "unknown field `colour`"),
        (LEAST.replace('["./a"]', "[]"), "needs a `service`"),
        (LEAST.replace('{id = "a-v0"}', ""), r"and an \[\[environments\]\]"),
    ],
)
def test_a_file_without_a_declaration_gives_the_reason(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(PluginError, match=said):
        read_plugin(tmp_path / "a.toml")


def test_a_missing_file_has_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"cannot read .*No such file"):
        read_plugin(tmp_path / "a.toml")


def test_plugins_are_found_in_files_and_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "data" / "plugins"
    installed.mkdir(parents=True)
    for name in ("b.toml", "a.toml", "c.txt", "data/plugins/d.toml"):
        (tmp_path / name).touch()
    monkeypatch.setenv("COMPILER_GYM_SITE_DATA", str(tmp_path / "data"))
    places = [str(tmp_path), str(tmp_path / "c.txt"), "/no/such/place"]
    monkeypatch.setenv("COMPILER_GYM_PLUGINS", os.pathsep.join(places))
    assert [file.name for file in plugin_files()] == ["a.toml", "b.toml", "c.txt", "d.toml"]
