# SPDX-License-Identifier: MIT
"""What a plug-in is known by, without any compiler."""

from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.plugins import (
    Plugin,
    list_recorded_plugins,
    load_options,
    plugin_source,
    require_recorded,
)
from compiler_gym.errors import PluginError


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "lib My+Pass.so"
    path.write_bytes(b"\x7fELF and more")
    return path


def test_a_plugin_is_identified_by_its_contents(library: Path) -> None:
    one = Plugin.read(library)
    assert one == Plugin.read(str(library))
    assert one.identity == f"lib_My_Pass.so@{one.hash[:16]}"
    library.write_bytes(library.read_bytes() + b"!")
    other = Plugin.read(library)
    assert other.identity != one.identity
    assert plugin_source([library], [])[0] != plugin_source([library], ["x"])[0]


def test_an_invalid_library_is_refused(tmp_path: Path, library: Path) -> None:
    (tmp_path / "text.so").write_text("hello")
    for wrong, complaint in [
        (tmp_path / "none.so", ": No such file"),
        (tmp_path, ": Is a directory"),
        (tmp_path / "text.so", "is not a plug-in: it must be a shared library"),
    ]:
        with pytest.raises(PluginError, match=complaint):
            plugin_source([wrong], [])
    with pytest.raises(PluginError, match="twice; name it only once"):
        plugin_source([library, library], [])
    with pytest.raises(PluginError, match="passes contains x twice"):
        plugin_source([library], ["x", "x"])
    with pytest.raises(PluginError, match=r"add the plug-in that has it to plugins="):
        plugin_source([], ["x"])
    with pytest.raises(PluginError, match="must be a list"):
        plugin_source(str(library), [])
    with pytest.raises(PluginError, match=r"passes must be names .got ''"):
        plugin_source([library], [""])


def test_the_options_of_opt_are_quoted() -> None:
    assert load_options([Plugin("/a b.so", "")]) == "'-load-pass-plugin=/a b.so'"


def test_a_recorded_plugin_must_be_there(library: Path) -> None:
    mine = Plugin.read(library)
    version = f"22.1.8+{mine.identity}"
    assert list_recorded_plugins(version) == [mine.identity]
    assert list_recorded_plugins(None) == list_recorded_plugins("22.1.8") == []
    require_recorded(version, [mine])
    require_recorded("22.1.8", [])
    require_recorded(None, [mine])
    with pytest.raises(PluginError, match="has no plug-ins; use make"):
        require_recorded(version, [])
    with pytest.raises(PluginError, match="a different file with that name"):
        require_recorded(version, [Plugin(mine.path, "0" * 64)])
