# SPDX-License-Identifier: MIT
"""Object code against llc and llvm-size."""

import subprocess

import pytest

from compiler_gym import _llvm

from .conftest import need


@pytest.fixture(params=["as it is", "O2", "Oz"])
def modules(request, corpus) -> dict[str, _llvm.Module]:
    made = {name: _llvm.Module(data) for name, data in corpus.items()}
    if request.param != "as it is":
        for module in made.values():
            module.apply_level(request.param)
    return made


def test_objects_are_those_of_llc_and_sizes_those_of_llvm_size(modules, tmp_path):
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


def test_making_code_leaves_the_module_as_it_was(corpus):
    module = _llvm.Module(corpus["records"])
    before = module.bitcode(), module.ir_hash()
    assert module.object_code() == module.object_code()
    assert (module.bitcode(), module.ir_hash()) == before
