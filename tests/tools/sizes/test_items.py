# SPDX-License-Identifier: MIT
"""Functions and variables do not overlap, and are those of nm."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.tools.sizes.items import spread

from .conftest import BUILDS, Build, analyse


@pytest.mark.parametrize("name", BUILDS)
def test_items_do_not_overlap_and_are_loaded(build: Build, name: str) -> None:
    analysis = analyse(build(*BUILDS[name]))
    items = analysis.items
    assert (items.size > 0).all()
    assert (items.start[1:] >= items.start[:-1] + items.size[:-1]).all()
    assert analysis.binary.is_loaded[items.section].all()
    assert (items.find(items.start) == np.arange(len(items.start))).all()
    assert (items.find(items.start + items.size - 1) == np.arange(len(items.start))).all()
    assert int(items.size.sum() + analysis.unwind.sum()) <= sum(
        size.loaded for size in analysis.parts.values()
    )


@pytest.mark.parametrize("name", ["gcc", "clang", "g++", "rustc", "aarch64", "arm", "gcc object"])
def test_sizes_are_those_that_nm_prints(build: Build, name: str) -> None:
    path = build(*BUILDS[name])
    listing = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout
    sizes = re.findall(r"^\w+ (\w+) [tTwW] (\S+)$", listing, re.M)
    expected = {symbol: int(size, 16) for size, symbol in sizes}
    analysis = analyse(path)
    indices: list[int] = analysis.items.symbol.tolist()
    pairs = zip(indices, analysis.items.size.tolist(), strict=True)
    found = {analysis.binary.symbols.name[at]: size for at, size in pairs if at >= 0}
    shared = expected.keys() & found.keys()
    assert len(shared) > 0.7 * len(expected) > 1
    assert {symbol: found[symbol] for symbol in shared} == {s: expected[s] for s in shared}


def sizes_by_name(path: Path) -> dict[str, int]:
    """Return the size of each item with a symbol."""
    analysis = analyse(path)
    indices: list[int] = analysis.items.symbol.tolist()
    names = [analysis.binary.symbols.name[at] if at >= 0 else "" for at in indices]
    return dict(zip(names, analysis.items.size.tolist(), strict=True))


@pytest.mark.parametrize("flags", ["-c", "-static", "-shared -fPIC"])
def test_a_variable_of_threads_is_an_item(build: Build, flags: str) -> None:
    source = """
        __thread int mine[70] = {1}, empty[90];
        int ours[50] = {2};
        int main(int count, char **words) { return mine[count] + empty[count] + ours[count]; }
    """
    path = build(source, f"gcc -O1 {flags}")
    sizes = sizes_by_name(path)
    assert (sizes["mine"], sizes["ours"]) == (280, 200)
    assert "empty" not in sizes  # not in the file
    items, binary = analyse(path).items, analyse(path).binary
    indices: list[int] = items.symbol.tolist()
    section = int(items.section[indices.index(binary.symbols.name.index("mine"))])
    assert binary.sections.name[section] == ".tdata"


def test_functions_in_more_sections_than_a_symbol_can_number_are_items(tmp_path: Path) -> None:
    count = 66_000
    lines = (
        f'.section .text.f,"ax",@progbits,unique,{i}\n.type f{i},@function\nf{i}: .zero {i % 7 + 1}'
        f"\n.size f{i}, .-f{i}\n"
        for i in range(count)
    )
    (tmp_path / "many.s").write_text("".join(lines))
    subprocess.run(["clang-22", "-c", "many.s"], cwd=tmp_path, check=True)
    sizes = sizes_by_name(tmp_path / "many.o")
    assert sizes == {f"f{i}": i % 7 + 1 for i in range(count)}


@pytest.mark.parametrize("link", [None, "", "-pie"])
def test_functions_with_descriptors_are_found(
    build: Build, tmp_path: Path, link: str | None
) -> None:
    path = build(*BUILDS["powerpc64"])
    expected = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout
    if link is not None:
        program = tmp_path / "program"
        subprocess.run(["ld.lld-22", *link.split(), "-e", "start", path, "-o", program], check=True)
        path = program
    sizes = sizes_by_name(path)
    for name in ("thrice", "sum", "start", "table"):
        assert f"{sizes[name]:016x} D {name}\n" in expected
    items, binary = analyse(path).items, analyse(path).binary
    assert binary.is_code[items.section].sum() == 5
    assert "[no symbol]" not in analyse(path).names


def test_a_stripped_file_has_functions_by_their_unwind_entries(build: Build) -> None:
    whole, stripped = analyse(build("c", "gcc -O2")), analyse(build("c", "gcc -O2 -s"))
    assert 4 <= len(stripped.items.start) < len(whole.items.start)
    assert (stripped.items.symbol == -1).any()
    assert int(stripped.unwind.sum()) > 0


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 20))))
def test_ranges_are_spread_in_order(ranges: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in ranges], dtype=np.int64)
    sizes = np.array([size for _, size in ranges], dtype=np.int64)
    expected = [at for start, size in ranges for at in range(start, start + size)]
    assert spread(starts, sizes).tolist() == expected
