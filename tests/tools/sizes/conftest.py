# SPDX-License-Identifier: MIT
"""Programs of several compilers and machines, each linked once."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.tools.sizes.analysis import Analysis
from compiler_gym.tools.sizes.binary import read_binaries
from compiler_gym.tools.sizes.parts import PartSize
from compiler_gym.tools.sizes.remedies import REMEDIES

C = """
extern int puts(const char *);
static const char *const names[] = {"alpha", "beta", "the quick brown fox", "brown fox"};
int table[40] = {1, 2, 3};
__attribute__((noinline)) int thrice(int x) { return x * 3 + table[x & 31]; }
__attribute__((noinline)) int same(int x) { return x * 3 + table[x & 31]; }
__attribute__((noinline)) int sum(int n) {
  int all = 0;
  for (int i = 0; i < n; i++) all += thrice(i) ^ same(n - i);
  return all;
}
int start(int count) { puts(names[count & 3]); return sum(count); }
"""
MAIN = C + "\nint main(int count, char **words) { return start(count); }\n"
BARE = C.replace("puts(", "print(").replace(
    "extern int print(const char *);", "int print(const char *s) { return *s; }"
)
CXX = """
#include <stdexcept>
#include <string>
#include <vector>
#include <cstdio>
namespace shop {
struct Till {
  std::vector<std::string> items;
  ~Till() { std::puts("closed"); }
  void add(const std::string &name) {
    if (name.empty()) throw std::invalid_argument("no name");
    items.push_back(name + "!");
  }
};
int sell(int count, char **words) {
  Till till;
  try {
    for (int i = 1; i < count; i++) till.add(words[i]);
  } catch (const std::exception &error) { std::puts(error.what()); }
  return till.items.size();
}
}
int main(int count, char **words) { return shop::sell(count, words); }
"""
RUST = """
use std::collections::BTreeMap;
mod shop { pub fn price(name: &str) -> usize { name.len() * 3 } }
fn main() {
    let mut all = BTreeMap::new();
    for word in std::env::args() { *all.entry(word.clone()).or_insert(0) += shop::price(&word); }
    for (word, price) in &all { println!("{word}: {price}"); }
}
"""
SOURCES = {"c": MAIN, "bare.c": BARE, "cpp": CXX, "rs": RUST}
BUILDS = {
    "gcc": ("c", "gcc -O2"),
    "gcc -g": ("c", "gcc -O1 -g -gz"),
    "gcc static": ("c", "gcc -Os -static"),
    "gcc object": ("c", "gcc -O2 -g -ffunction-sections -c"),
    "g++": ("cpp", "g++ -O2"),
    "clang": ("c", "clang-22 -O2 -fuse-ld=lld"),
    "clang -flto -g": ("c", "clang-22 -Oz -g -flto -fuse-ld=lld"),
    "clang fixed": ("c", "clang-22 -O2 -fno-pie -no-pie -fuse-ld=lld"),
    "clang packed": ("c", "clang-22 -O2 -fuse-ld=lld -Wl,-z,pack-relative-relocs"),
    "static pie": ("c", "gcc -O1 -static-pie"),
    "powerpc64": ("bare.c", "clang-22 --target=powerpc64-linux-gnu -mabi=elfv1 -O1 -c"),
    "clang++ -g": ("cpp", "clang++-22 -O1 -g -fuse-ld=lld"),
    "rustc": ("rs", "rustc -O"),
    "rustc stripped": ("rs", "rustc -O -C strip=symbols"),
    "rustc v0": ("rs", "rustc -C opt-level=z -C symbol-mangling-version=v0 -C debuginfo=2"),
    "aarch64": ("c", "aarch64-linux-gnu-gcc -O2"),
    "riscv64": ("c", "riscv64-linux-gnu-gcc -O2 -g"),
    "arm": ("c", "arm-linux-gnueabihf-gcc -O2 -g"),
    "arm thumb": ("c", "arm-linux-gnueabihf-gcc -Os -mthumb -static"),
    "x86": ("bare.c", "clang-22 --target=i686-linux-gnu -O2 -fPIC -shared"),
    "aarch64 lld": ("bare.c", "clang-22 --target=aarch64-linux-gnu -O2 -fPIC -shared"),
    "riscv32": ("bare.c", "clang-22 --target=riscv32-linux-gnu -O2 -g -fPIC -shared"),
    "mips": ("bare.c", "clang-22 --target=mips-linux-gnu -O2 -fPIC -shared"),
    "s390x": ("bare.c", "clang-22 --target=s390x-linux-gnu -O2 -c"),
}
"""Builds by name: the source and the command."""

Build = Callable[..., Path]
_FREESTANDING = ["-nostdlib", "-fuse-ld=lld"]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a function that compiles a text, or skips if there is no such compiler."""
    folder = tmp_path_factory.mktemp("builds")
    known: dict[tuple[str, str], Path] = {}

    def compile_source(source: str, command: str) -> Path:
        compiler, *flags = command.split()
        if shutil.which(compiler) is None:
            pytest.skip(f"needs {compiler}")
        if (source, command) in known:
            return known[source, command]
        number = len(known)
        suffix = source.rpartition(".")[2] if source in SOURCES else "c"
        path, output = folder / f"s{number}.{suffix}", folder / f"p{number}"
        path.write_text(SOURCES.get(source, source))
        if source == "bare.c" and "-c" not in flags:
            flags += _FREESTANDING
        words = [compiler, *flags, "-o", str(output), str(path)]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        known[source, command] = output
        return output

    return compile_source


def analyse(path: Path) -> Analysis:
    """Return the analysis of the only ELF file in `path`."""
    binary = read_binaries(path)[1][0].binary
    assert binary is not None
    return Analysis(binary)


def estimate(path: Path, name: str) -> PartSize:
    """Return the estimate of a remedy for `path`."""
    (remedy,) = (remedy for remedy in REMEDIES if remedy.name == name)
    saving = remedy.estimate(analyse(path))
    assert saving is not None
    return saving
