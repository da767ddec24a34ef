# SPDX-License-Identifier: MIT
"""The extension as a file: self-contained, of bearable size, and described by its stub."""

import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from compiler_gym import _columns, _elf, _llvm, _service

from .conftest import need

ROOT = Path(__file__).parents[2]
ALLOWED = ("linux-vdso", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "ld-linux")
UNWINDER = "libgcc_s.so"  # which comes with every C library that wheels know


def test_the_extension_needs_nothing_but_the_c_library_and_its_unwinder():
    assert _llvm.__file__ is not None
    listing = subprocess.run(
        [need("ldd"), _llvm.__file__], check=True, capture_output=True, text=True
    ).stdout
    needed = [line.split()[0].rsplit("/", 1)[-1] for line in listing.splitlines()]
    assert [name for name in needed if not name.startswith((*ALLOWED, UNWINDER))] == []


def test_the_engine_works_where_llvm_is_hidden(corpus: dict[str, bytes], tmp_path: Path):
    source = tmp_path / "program.bc"
    source.write_bytes(corpus["loops"])
    folder = Path("/usr/lib/llvm-22")
    if not folder.is_dir():
        pytest.skip("needs an installed LLVM to hide")
    program = (
        "import os, sys; from compiler_gym import _llvm\n"
        "assert not os.listdir('/usr/lib/llvm-22')\n"
        "module = _llvm.Module(open(sys.argv[1], 'rb').read())\n"
        "module.apply_level('Oz'); print(module.object_text_size())\n"
        "assert 'libLLVM' not in open('/proc/self/maps').read()\n"
    )
    hide = 'mount -t tmpfs none /usr/lib/llvm-22 && exec "$@"'
    command = [need("unshare"), "--map-root-user", "--mount", "sh", "-c", hide, "sh"]
    if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        pytest.skip("needs permission to mount in a namespace of its own")
    command += [sys.executable, "-c", program, str(source)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert int(done.stdout) > 0


def test_the_extension_adds_about_24_mb_to_a_wheel(tmp_path: Path):
    assert _llvm.__file__ is not None
    with zipfile.ZipFile(tmp_path / "wheel.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(_llvm.__file__)
    assert 5e6 < (tmp_path / "wheel.zip").stat().st_size < 26e6


def test_no_symbol_of_llvm_leaves_the_extension():
    assert _llvm.__file__ is not None
    listing = subprocess.run(
        [need("nm"), "-D", "--defined-only", _llvm.__file__],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert [line for line in listing.splitlines() if "llvm" in line and "PyInit" not in line] == []


@pytest.mark.parametrize(
    "module", [_llvm, _columns, _elf, _service], ids=lambda module: module.__name__
)
def test_the_stub_is_what_nanobind_generates(module: ModuleType):
    stubgen = pytest.importorskip("nanobind.stubgen", reason="needs nanobind")
    generator = stubgen.StubGen(module)
    generator.put(module)
    path = ROOT / "src" / (module.__name__.replace(".", "/") + ".pyi")
    assert generator.get() == path.read_text(encoding="utf-8")


def test_importing_prints_nothing_and_starts_no_thread():
    program = "import threading; from compiler_gym import _llvm; print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"1\n", b"")


def test_running_out_of_memory_ends_the_process_when_asked_to(
    corpus: dict[str, bytes], tmp_path: Path
):
    source = tmp_path / "program.bc"
    source.write_bytes(corpus["loops"])
    # On a thread: the stack of a process grows while it runs, which the limit would forbid as well.
    program = (
        "import resource, sys, threading; from compiler_gym import _llvm\n"
        "data = open(sys.argv[1], 'rb').read()\n"
        "_llvm.exit_on_out_of_memory(sys.argv[2] == 'exit')\n"
        "def fill():\n"
        "    size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (size + (24 << 20),) * 2)\n"
        "    modules = []\n"
        "    try:\n"
        "        while True: modules.append(_llvm.Module(data))\n"
        "    except MemoryError:\n"
        "        modules.clear()\n"
        "        print('raised')\n"
        "thread = threading.Thread(target=fill)\n"
        "thread.start()\n"
        "thread.join()\n"
    )

    def run(mode: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", program, str(source), mode]
        return subprocess.run(command, capture_output=True, timeout=120)

    assert run("exit").returncode == _llvm.OUT_OF_MEMORY_STATUS
    assert run("raise").stdout == b"raised\n"


def test_our_settings_of_nanobind_do_not_affect_other_extensions():
    program = (
        "import ctypes; from compiler_gym import _columns, _elf, _llvm, _service\n"
        "api = ctypes.pythonapi\n"
        "api.PyInterpreterState_Get.restype = ctypes.c_void_p\n"
        "api.PyInterpreterState_GetDict.argtypes = [ctypes.c_void_p]\n"
        "api.PyInterpreterState_GetDict.restype = ctypes.py_object\n"
        "state = api.PyInterpreterState_GetDict(api.PyInterpreterState_Get())\n"
        "print(*(name for name in state if 'nb_internals' in str(name)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    (shared,) = done.stdout.split()
    assert "compiler_gym" in shared
    assert done.stderr == ""
