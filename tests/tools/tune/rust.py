# SPDX-License-Identifier: MIT
"""The Rust of this machine, if its LLVM is ours, and a workspace with all that cargo links."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym._llvm import LLVM_VERSION

PATH = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", os.environ["PATH"]])
"""Debian's programs before those of rustup."""


def _is_ours() -> bool:
    rustc = shutil.which("rustc", path=PATH)
    if rustc is None or shutil.which("cargo", path=PATH) is None:
        return False
    shown = subprocess.run([rustc, "-vV"], capture_output=True, text=True, check=False).stdout
    return f"LLVM version: {LLVM_VERSION.rpartition('.')[0]}." in shown


needs_rust = pytest.mark.skipif(
    not (_is_ours() and shutil.which("clang-22") and shutil.which("ld.lld-22")),
    reason="needs rustc-web, cargo-web, clang-22 and lld-22",
)

_PROFILE = """
[profile.release]
opt-level = "z"
lto = "fat"
codegen-units = 1
strip = true
"""
_FILES = {
    "Cargo.toml": f'[workspace]\nmembers = ["pm", "app", "cd"]\nresolver = "2"\n{_PROFILE}',
    "pm/Cargo.toml": '[package]\nname = "pm"\nedition = "2021"\n[lib]\nproc-macro = true\n',
    "pm/src/lib.rs": """
use proc_macro::TokenStream;
#[proc_macro]
pub fn answer(_: TokenStream) -> TokenStream { "42u32".parse().unwrap() }
""",
    "app/Cargo.toml": """
[package]
name = "app"
edition = "2021"
build = "build.rs"
[dependencies]
pm = { path = "../pm" }
""",
    "app/build.rs": """
use std::process::Command;
fn run(words: &[&str]) {
    assert!(Command::new(words[0]).args(&words[1..]).status().unwrap().success());
}
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let name = |variable, usual: &str| std::env::var(variable).unwrap_or(usual.into());
    let (c, cxx) = (format!("{out}/part.o"), format!("{out}/more.o"));
    run(&[&name("CC", "cc"), "-O2", "-fPIC", "-c", "c/part.c", "-o", &c]);
    run(&[&name("CXX", "c++"), "-O2", "-fPIC", "-c", "c/more.cpp", "-o", &cxx]);
    run(&["ar", "crs", &format!("{out}/libpart.a"), &c, &cxx]);
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=part");
    println!("cargo:rustc-link-lib=stdc++");
}
""",
    "app/c/part.c": """
int more(int);
int weigh(const char *s) { int n = 0; while (*s) n = n * 31 + *s++; return more(n); }
""",
    "app/c/more.cpp": """
#include <stdexcept>
extern "C" int more(int n) {
  try { if (n > 100) throw std::runtime_error("big"); return n; }
  catch (const std::exception &e) { return e.what()[0]; }
}
""",
    "app/src/main.rs": """
extern "C" { fn weigh(s: *const std::ffi::c_char) -> i32; }
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| { if std::env::args().count() < 9 { panic!(); } });
    println!("{} {} {}", pm::answer!(), unsafe { weigh(c"hello".as_ptr()) }, caught.is_err());
}
""",
    "app/src/bin/second.rs": 'fn main() { println!("second {}", pm::answer!()); }\n',
    "cd/Cargo.toml": """
[package]
name = "cd"
edition = "2021"
[lib]
crate-type = ["cdylib"]
""",
    "cd/src/lib.rs": """
#[no_mangle]
pub extern "C" fn twice(n: i32) -> i32 { (0..n).map(|_| 2).collect::<Vec<i32>>().iter().sum() }
""",
}
PRINTED = {"app": "42 98 true\n", "second": "second 42\n"}
"""What the programs of the workspace print: exceptions and panics are caught."""


def write_workspace(folder: Path) -> Path:
    """Write a workspace with a build script, C and C++, a macro, two programs and a library."""
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.lstrip())
    return folder
