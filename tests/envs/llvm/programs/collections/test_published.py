# SPDX-License-Identifier: MIT
import bz2
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import DownloadOptions, PublishedDataset
from compiler_gym.envs.llvm import LlvmEnv, datasets
from compiler_gym.envs.llvm.programs.collections.published import PUBLISHED
from compiler_gym.errors import (
    BenchmarkInitError,
    DatasetInitError,
    DownloadFailed,
    UnknownNameError,
)
from tests.datasets.conftest import make_tar
from tests.datasets.server import Server
from tests.stand_ins import never

FAST = DownloadOptions(max_retries=0, stall_timeout=10, sleep=lambda seconds: None)
CAST = b"define ptr @f(ptr %p) {\n  %q = bitcast ptr %p to ptr\n  ret ptr %q\n}\n"
Make = Callable[..., PublishedDataset]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server().running() as running:
        yield running


@pytest.fixture
def make(server: Server, tmp_path: Path) -> Make:
    """Make a published dataset whose archive and list are served here."""

    def dataset(
        cls: type[PublishedDataset],
        files: dict[str, bytes],
        names: list[str],
        *behaviours: str,
        **arguments: Any,
    ) -> PublishedDataset:
        archive = make_tar(files, cls.archive.compression)
        manifest = bz2.compress("\n".join(names).encode())
        server.files |= {"archive": archive, "manifest": manifest}
        served: dict[str, Any] = {
            "tar_urls": [server.url(f"{b}/archive") for b in behaviours or ("ok",)],
            "tar_sha256": hashlib.sha256(archive).hexdigest(),
            "manifest_urls": [server.url("ok/manifest")],
            "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
            "download_options": FAST,
        }
        return cls(tmp_path / "site", **(served | arguments))

    return dataset


def test_an_environment_lists_every_archive_and_fetches_none(
    make_env: Callable[..., LlvmEnv],
) -> None:
    env = make_env()
    for cls in PUBLISHED:
        assert env.datasets[cls.archive.name].size == cls.archive.count
    names = [dataset.name for dataset in datasets.get_llvm_datasets()]
    assert len(names) == len(set(names))


def test_bitcode_is_fetched_on_first_use_and_upgraded_when_it_is_read(
    make: Make, make_env: Callable[..., LlvmEnv], tool: Callable[..., bytes]
) -> None:
    bitcode = tool("llvm-as-22", "-", "-o", "-", input=CAST)
    files = {"npb-v0/1.bc": bitcode, "npb-v0/README": b"text"}
    dataset = make(datasets.NPBDataset, files, ["1"])
    assert (dataset.installed, dataset.size) == (False, 122)
    program = dataset["1"]
    assert (dataset.installed, dataset.size) == (True, 1)
    assert program.contents == bitcode
    env = make_env(datasets=[dataset], observation_space="IrInstructionCount")
    assert env.reset(benchmark="npb-llvm10-v0/1")[0] == 2
    assert env.reset(benchmark="npb-llvm10-v0/1?bitcasts=strip")[0] == 1
    assert str(env.benchmark) == "benchmark://npb-llvm10-v0/1?bitcasts=strip"
    dataset.strip_bitcasts = True  # type: ignore[attr-defined]
    assert env.reset(benchmark="npb-llvm10-v0/1")[0] == 1
    assert env.reset(benchmark="npb-llvm10-v0/1?bitcasts=keep")[0] == 2
    with pytest.raises(BenchmarkInitError, match="must be keep or strip"):
        dataset["1?bitcasts=perhaps"]


@pytest.mark.parametrize("folder", ["", "cBench-v1/", "cbench/v1/bitcode/", "contents/contents/"])
def test_a_folder_that_holds_everything_is_not_part_of_the_names(folder: str, make: Make) -> None:
    files = {f"{folder}{name}.bc": name.encode() for name in ("crc32", "sha")}
    dataset = make(datasets.CBenchDataset, files, ["crc32", "sha"])
    assert [program.contents for program in dataset] == [b"crc32", b"sha"]
    assert dataset.verify() == []


def test_mirrors_are_tried_in_order(make: Make, server: Server) -> None:
    dataset = make(
        datasets.BlasDataset, {"blas-v0/a.bc": b"a"}, ["a"], "missing", "truncated", "html", "ok"
    )
    dataset.tar_urls[0] = server.url("ok/nothing-here")
    assert dataset["a"].contents == b"a"
    paths = [path for path, _ in server.requests if "manifest" not in path]
    assert paths == ["/ok/nothing-here", "/truncated/archive", "/html/archive", "/ok/archive"]


def test_a_wrong_archive_installs_nothing(make: Make, tmp_path: Path) -> None:
    dataset = make(datasets.BlasDataset, {"blas-v0/a.bc": b"a"}, ["a"], tar_sha256="0" * 64)
    with pytest.raises(DownloadFailed, match="sha256"):
        dataset.install()
    bad = {"blas-v0/a.bc": b"a", "blas-v0/../../../b.bc": b"b"}
    dataset = make(datasets.BlasDataset, bad, ["a"])
    with pytest.raises(DatasetInitError, match="points outside its directory"):
        dataset.install()
    assert not dataset.installed
    assert not list(tmp_path.rglob("*.bc"))


def test_sources_are_compiled_when_they_are_requested_and_kept(
    make: Make, make_env: Callable[..., LlvmEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    top = datasets.AnghaBenchDataset.archive.strip_prefix
    # Old C that today's clang calls an error, and what was never C.
    source = b"f(x) { return g(x) + 1; }\n"
    files = {f"{top}/a/good.c": source, f"{top}/a/bad.c": b"int f( {"}
    dataset = make(datasets.AnghaBenchDataset, files, ["a/good", "a/bad"])
    program = dataset["a/good"]
    assert [tuple(found) for found in program.sources] == [("good.c", source)]
    with pytest.raises(BenchmarkInitError, match="error: expected"):
        dataset["a/bad"]
    assert dataset.compile_all() == 1  # type: ignore[attr-defined]
    env = make_env(observation_space="IrInstructionCount")
    assert env.reset(benchmark=program)[0] > 2
    monkeypatch.setattr(type(dataset), "_compile", never("compiled again"))
    assert dataset["a/good"].contents == program.contents


def test_chstone_programs_include_the_other_files_of_their_folder(make: Make) -> None:
    top = datasets.CHStoneDataset.archive.strip_prefix
    files = {
        f"{top}/blowfish/bf.c": b'#include "bf_skey.c"\nint main() { return key(); }\n',
        f"{top}/blowfish/bf_skey.c": b"int key() { return 0; }\n",
        f"{top}/README": b"text",
    }
    dataset = make(datasets.CHStoneDataset, files, [], manifest_urls=[])
    assert dataset["blowfish"].contents[:4] == b"BC\xc0\xde"
    assert [uri.rpartition("/")[2] for uri in dataset.benchmark_uris()][:3] == [
        *("adpcm", "aes", "blowfish")
    ]
    assert dataset.size == 12
    assert dataset.verify() == []
    with pytest.raises(UnknownNameError, match="no program"):
        dataset["nosuch"]


def test_opencl_kernels_become_modules_of_this_machine(
    make: Make, make_env: Callable[..., LlvmEnv]
) -> None:
    kernel = b"__kernel void A(__global float* a) { a[get_global_id(0)] = sqrt(a[0]); }\n"
    dataset = make(datasets.CLgenDataset, {"clgen-1000/kernels/1.cl": kernel}, ["1"])
    env = make_env(observation_space="Ir")
    ir, _ = env.reset(benchmark=dataset["1"])
    assert "x86_64" in ir
    assert "@A(" in ir


def test_jotai_programs_know_how_they_are_run(make: Make) -> None:
    top = datasets.JotaiBenchDataset.archive.strip_prefix
    source = b"int main(int c, char** v) { return c - 2; }\n"
    program = make(datasets.JotaiBenchDataset, {f"{top}/a.c": source}, ["a"])["a"]
    assert program.run is not None
    assert program.run.cases[0].argv == ("0",)


@pytest.mark.parametrize(
    "source",
    [
        b"void main() { cout << sqrt(2.0) << MAX; }",
        b"int f() { return 1; }\nmain() { char s[LEN]; gets(s); return f(); }",
        b"// \xc4\xe3\xba\xc3\nint main ( ) { vector<int> v; return v.size(); }",
    ],
)
def test_solutions_of_students_compile_with_the_headers_they_leave_out(
    source: bytes, make: Make
) -> None:
    dataset = make(datasets.POJ104Dataset, {"ProgramData/1/10.txt": source}, ["1/10"])
    program = dataset["1/10"]
    assert program.contents[:4] == b"BC\xc0\xde"
    assert next(iter(program.sources)).contents == source
