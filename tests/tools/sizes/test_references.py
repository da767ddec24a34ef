# SPDX-License-Identifier: MIT
"""Uses of functions are found in the code of x86-64 and AArch64, and in data."""

import pytest

from compiler_gym.tools.sizes.estimates import find_live

from .conftest import BUILDS, Build, analyse

SOURCE = """
volatile int seed;
__attribute__((noinline)) static int called(int n) { return n * seed; }
__attribute__((noinline)) static int pointed(int n) { return n + seed; }
__attribute__((noinline)) int unused(int n) { return n - seed; }
__attribute__((noinline)) int only_by_unused(int n) { return unused(n) ^ seed; }
static int (*const volatile table[])(int) = {pointed};
int main(int n, char **w) { return called(n) + table[0](n); }
"""
COMMANDS = [
    "gcc -O1", "gcc -O1 -no-pie -fno-pie", "clang-22 -O1 -fuse-ld=lld",
    "clang-22 -O1 -fuse-ld=lld -Wl,-z,pack-relative-relocs",
    "clang-22 -O1 -fuse-ld=lld -no-pie -fno-pie", "aarch64-linux-gnu-gcc -O1",
    "aarch64-linux-gnu-gcc -O1 -no-pie -fno-pie", "aarch64-linux-gnu-gcc -O1 -fPIC -pie",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_unreachable_code_is_found(build: Build, command: str) -> None:
    analysis = analyse(build(SOURCE, command))
    live = dict(zip(analysis.names, find_live(analysis).tolist(), strict=True))
    names = ("main", "called", "pointed", "unused", "only_by_unused")
    assert [live[name] for name in names] == [True, True, True, False, False]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_call_is_distinguished_from_a_use_of_the_address(build: Build, command: str) -> None:
    analysis = analyse(build(SOURCE, command))
    assert analysis.references is not None
    pointers = set(analysis.items.find(analysis.references.pointers).tolist())
    names = analysis.names
    assert names.index("pointed") in pointers
    assert names.index("called") not in pointers


@pytest.mark.parametrize("name", ["arm", "riscv64", "x86", "gcc object"])
def test_other_machines_and_objects_have_none(build: Build, name: str) -> None:
    assert analyse(build(*BUILDS[name])).references is None
