# SPDX-License-Identifier: MIT
"""The option space of a compiler is what the compiler itself says, and is read once."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import CacheWarning
from compiler_gym_gcc import (
    GccFlagOption,
    GccOOption,
    GccParamIntOption,
)
from compiler_gym_gcc.toolchain import help as machine_help
from compiler_gym_gcc.toolchain import spec as specs
from compiler_gym_gcc.toolchain.spec import get_spec
from tests.stand_ins import always, never


def told_by(gcc_bin: str, *words: str) -> str:
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin", "COLUMNS": "500"}
    command = [gcc_bin, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True).stdout


def test_every_listed_parameter_is_an_option(gcc_bin: str) -> None:
    listed = re.findall(r"^  (--param=[\w-]+=)", told_by(gcc_bin, "--help=params"), re.MULTILINE)
    ours = [o.name for o in get_spec(gcc_bin).options if o.name.startswith("--param=")]
    assert ours == list(dict.fromkeys(listed))
    assert len(ours) > 200


def test_every_listed_flag_is_an_option_but_those_that_need_a_file(gcc_bin: str) -> None:
    lines = told_by(gcc_bin, "--help=optimizers")
    listed = set(re.findall(r"^  (-f[\w-]+=?)", lines, re.MULTILINE))
    listed = {n if not n.startswith("-falign-") else n.rstrip("=") for n in listed}
    ours = {o.name for o in get_spec(gcc_bin).options if o.name.startswith("-f")}
    assert listed - ours == {
        "-fhandle-exceptions", "-fpatchable-function-entry=",
    }  # fmt: skip
    assert ours <= listed


def test_ranges_and_defaults_are_those_that_the_compiler_prints(gcc_bin: str) -> None:
    text = told_by(gcc_bin, "-Q", "--help=params")
    ours = {o.name: o for o in get_spec(gcc_bin).options if isinstance(o, GccParamIntOption)}
    rows = re.findall(r"(--param=[\w-]+=)<(-?\d+),(\d+)>\s+(-?\d+)", text)
    assert len(rows) > 80
    outside = 0
    for name, low, high, default in rows:
        if name not in ours:
            continue  # it turned out to be one of some words
        option = ours[name]
        assert (option.low, option.high) == (max(int(low), 0), int(high))
        assert option.default == int(default)
        outside += not option.low <= int(default) <= option.high
    assert outside >= 1, "no default outside of its range: is this the compiler we think it is?"


def test_the_compiler_accepts_every_setting(gcc_bin: str) -> None:
    options = get_spec(gcc_bin).options
    words = [word for option in options for word in machine_help.list_refused_settings([option])]
    done = subprocess.run(
        [gcc_bin, "-###", *words, "-x", "c", "-c", "/dev/null"],
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:2000]


def test_a_spec_says_who_it_is_and_how_large(gcc_bin: str) -> None:
    spec = get_spec(gcc_bin)
    assert spec.version == told_by(gcc_bin, "--version").splitlines()[0]
    assert spec.gcc.bin == gcc_bin
    assert isinstance(spec.options[0], GccOOption)
    assert list(spec.options[0])[:4] == ["-O0", "-O1", "-O2", "-O3"]
    assert {"-Os", "-Ofast", "-Og"} <= set(spec.options[0])
    assert GccFlagOption("-fgcse") in spec.options
    product = 1
    for option in spec.options:
        product *= len(option) + 1
    assert spec.size == product > 10**400


def test_parsed_specs_are_cached_by_the_compilers_hash(
    gcc_bin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    first = get_spec.__wrapped__(gcc_bin)
    kept = list((tmp_path / "gcc-options").iterdir())
    assert [path.name.partition("-")[0] for path in kept] == [first.identity]
    monkeypatch.setattr(specs, "_ask_compiler", never("the compiler was asked again"))
    assert get_spec.__wrapped__(gcc_bin).options == first.options


@pytest.mark.parametrize(
    "damage", [b"", b"[[", b'[["Path", "/"]]', b'[["GccFlagOption"]]', b"{}", b"[]"]
)
def test_a_damaged_cache_is_read_anew(
    damage: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gcc_bin: str
) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    options = [GccFlagOption("-fgcse")]
    monkeypatch.setattr(specs, "_ask_compiler", always(options))
    assert get_spec.__wrapped__(gcc_bin).options == options
    (kept,) = (tmp_path / "gcc-options").iterdir()
    kept.write_bytes(damage)
    assert get_spec.__wrapped__(gcc_bin).options == options
    assert json.loads(kept.read_bytes()) == [["GccFlagOption", "-fgcse", False]]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    gcc_bin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match="computed again"):
        assert len(get_spec.__wrapped__(gcc_bin).options) > 400
