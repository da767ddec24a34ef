# SPDX-License-Identifier: MIT
"""Object code against llc and llvm-size."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import CompilerDiagnosticError

from .conftest import need


@pytest.fixture(params=["as it is", "O2", "Oz"])
def modules(request: pytest.FixtureRequest, corpus: dict[str, bytes]) -> dict[str, _llvm.Module]:
    made = {name: _llvm.Module(data) for name, data in corpus.items()}
    if request.param != "as it is":
        for module in made.values():
            module.apply_level(request.param)
    return made


def test_objects_are_those_of_llc_and_sizes_those_of_llvm_size(
    modules: dict[str, _llvm.Module], tmp_path: Path
):
    source, target = tmp_path / "in.bc", tmp_path / "out.o"
    for name, module in modules.items():
        source.write_bytes(module.bitcode())
        command = [need("llc-22"), "-filetype=obj", str(source), "-o", str(target)]
        subprocess.run(command, check=True, capture_output=True)
        assert module.object_code() == target.read_bytes(), name
        listing = subprocess.run(
            [need("llvm-size-22"), "-A", str(target)], check=True, capture_output=True, text=True
        ).stdout
        sections = [line.split() for line in listing.splitlines() if line.startswith(".")]
        text = sum(int(size) for section, size, _ in sections if section.startswith(".text"))
        assert module.object_text_size() == text > 0, name


def test_assembly_is_that_of_llc(modules: dict[str, _llvm.Module], tmp_path: Path):
    source, target = tmp_path / "in.bc", tmp_path / "out.s"
    options = ["-filetype=asm", "-asm-verbose=0"]
    for name, module in modules.items():
        source.write_bytes(module.bitcode())
        command = [need("llc-22"), *options, str(source), "-o", str(target)]
        subprocess.run(command, check=True, capture_output=True)
        assert module.assembly() == target.read_bytes(), name


def test_making_code_leaves_the_module_as_it_was(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["records"])
    before = module.bitcode(), module.ir_hash()
    assert module.object_code() == module.object_code()
    assert (module.bitcode(), module.ir_hash()) == before


TARGET = 'target triple = "x86_64-unknown-linux-gnu"\n'
MAIN = "define i32 @main() {\n ret i32 0\n}\n"
MACRO = (
    'module asm ".macro m p q"\nmodule asm ".\\5Cp\\5Cq \\22SECRET\\22"\n'
    'module asm ".endm"\nmodule asm "m inc bin"\n'
)
READERS = {
    "bytes": 'module asm ".incbin \\22SECRET\\22"\n' + MAIN,
    "letters": 'module asm ".InCbIn \\22SECRET\\22"\n' + MAIN,
    "assembly": 'module asm ".include \\22SECRET\\22"\n' + MAIN,
    "macro": MACRO + MAIN,
    "function": MAIN.replace("ret", 'call void asm ".incbin \\22SECRET\\22", ""()\n ret'),
}


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "secret"
    path.write_bytes(b'.ascii "of the user"\n')
    yield path
    _llvm.let_assembly_read_files(False)


@pytest.mark.parametrize("kind", READERS)
def test_inline_assembly_reads_no_file_unless_it_may(kind: str, secret: Path):
    module = _llvm.Module((TARGET + READERS[kind].replace("SECRET", str(secret))).encode())
    _llvm.let_assembly_read_files(False)
    with pytest.raises(CompilerDiagnosticError, match="reads a file, which is only permitted"):
        module.object_code()
    _llvm.let_assembly_read_files(True)
    assert b"of the user" in module.object_code()


def test_inline_assembly_that_reads_nothing_is_the_same_either_way():
    module = _llvm.Module((TARGET + 'module asm "nop"\n' + MAIN).encode())
    made: list[bytes] = []
    for may in (False, True):
        _llvm.let_assembly_read_files(may)
        made.append(module.object_code())
    assert made[0] == made[1]
    _llvm.let_assembly_read_files(False)
    open("/dev/null").close()  # the thread that may open no file was another


def test_a_mistake_in_inline_assembly_is_reported_as_before():
    module = _llvm.Module((TARGET + 'module asm "nonsense %%"\n' + MAIN).encode())
    with pytest.raises(CompilerDiagnosticError, match="invalid register name"):
        module.object_code()
