# SPDX-License-Identifier: MIT
"""Every byte belongs to one part, and parts agree with LLVM's and GNU's tools."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.builds import measure_sizes
from compiler_gym.tools.sizes import Grouping, Part, PartSize, measure_file
from compiler_gym.tools.sizes.parts import find_runs

from .conftest import BUILDS, Build, analyse

SYSTEM = (
    "bash", "git", "perl", "python3.11", "fzf", "rg", "hexyl", "ssh", "openssl", "ld.lld-22",
    "libcrypto.so.3", "libstdc++.so.6", "libc.so.6", "libpython3.11.so.1.0",
)  # fmt: skip
"""Programs and libraries of a Debian system, in C, C++, Go and Rust."""


def find_system_file(name: str) -> Path:
    for place in ("/usr/bin", "/usr/lib/x86_64-linux-gnu", "/usr/lib/llvm-22/bin"):
        path = Path(place, name)
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            return path
    pytest.skip(f"needs {name}")


def check_against_tools(path: Path) -> None:
    analysis = analyse(path)
    parts = analysis.parts
    assert sum(size.total for size in parts.values()) == path.stat().st_size
    loaded = sum(size.loaded for size in parts.values())
    assert all(0 <= size.loaded <= size.total for size in parts.values())
    listing = run("readelf", "-lSW", str(path))
    segments = re.findall(r"^ +LOAD +\w+ \w+ \w+ (0x\w+)", listing, re.M)
    if analysis.binary.is_linked:
        assert loaded == sum(int(size, 16) for size in segments)
    if analysis.binary.bits == 64 and analysis.binary.little:
        assert loaded == measure_sizes(path).loaded
    binary = analysis.binary
    rows = re.findall(r"^ +\[ *\d+\] (\S*) +[A-Z]\S* +\w+ (\w+) (\w+) ", listing, re.M)
    ours = zip(binary.sections.name[1:], binary.sections["offset"][1:].tolist(),
               binary.sections["size"][1:].tolist(), strict=True)  # fmt: skip
    assert [(name, int(at, 16), int(size, 16)) for name, at, size in rows[1:]] == list(ours)
    if shutil.which("llvm-size-22") and binary.is_linked:
        sizes = dict(re.findall(r"^(\S+) +(\d+) +\d+$", run("llvm-size-22", "-A", str(path)), re.M))
        for row in measure_file(path).owners[Grouping.SECTION]:
            assert int(sizes[row.name]) == row.size


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", BUILDS)
def test_parts_of_every_compiler_add_up(build: Build, name: str) -> None:
    check_against_tools(build(*BUILDS[name]))


@pytest.mark.parametrize("name", SYSTEM)
def test_parts_of_system_files_add_up(name: str) -> None:
    check_against_tools(find_system_file(name))


def test_parts_are_those_of_the_sections(build: Build) -> None:
    path = build("c", "gcc -O1 -g -gz")
    sections = {row.name: row.loaded for row in measure_file(path).owners[Grouping.SECTION]}
    parts = measure_file(path).parts
    assert parts[Part.UNWIND].loaded == sections[".eh_frame"] + sections[".eh_frame_hdr"]
    assert parts[Part.RELOCATIONS].loaded == sections[".rela.dyn"] + sections[".rela.plt"]
    assert parts[Part.NAMES].loaded == sections[".dynstr"]
    assert parts[Part.DATA].loaded > 160
    code = sum(sections[name] for name in (".text", ".init", ".fini"))
    assert code - 64 < parts[Part.CODE].loaded <= code
    assert parts[Part.DEBUG].loaded == 0 < parts[Part.DEBUG].total


def test_strings_are_distinguished_from_other_constants(build: Build) -> None:
    text = "x" * 500
    source = f"""
        extern int puts(const char *);
        const unsigned char numbers[300] = {{200, 7, 7, 7}};
        int main(int n, char **w) {{ puts("{text}"); return numbers[n]; }}
    """
    parts = measure_file(build(source, "gcc -O1")).parts
    assert 501 <= parts[Part.STRINGS].loaded < 501 + 100
    assert 300 <= parts[Part.CONSTANTS].loaded < 300 + 100


def test_bytes_after_the_last_section_are_not_padding(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "more"
    path.write_bytes(build("c", "gcc -O2").read_bytes() + b"\0" * 5000)
    assert measure_file(path).parts[Part.OTHER] == PartSize(0, 5000)


def test_a_file_without_section_headers_is_read_by_segments(build: Build, tmp_path: Path) -> None:
    data = bytearray(build("c", "clang-22 -O2 -fuse-ld=lld").read_bytes())
    data[40:48] = bytes(8)
    data[60:64] = bytes(4)
    path = tmp_path / "bare"
    path.write_bytes(data)
    report = measure_file(path)
    assert report.total == len(data)
    assert report.parts[Part.CODE].loaded > 100
    assert report.loaded == measure_sizes(build("c", "clang-22 -O2 -fuse-ld=lld")).loaded


@given(st.lists(st.booleans()))
def test_runs_are_where_the_mask_is_true(mask: list[bool]) -> None:
    starts, sizes = find_runs(np.array(mask, dtype=np.bool_))
    again = np.zeros(len(mask), dtype=np.bool_)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        assert size > 0
        assert not again[max(start - 1, 0) : start + size].any()
        again[start : start + size] = True
    assert again.tolist() == mask
