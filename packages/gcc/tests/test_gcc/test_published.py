# SPDX-License-Identifier: MIT
"""Archives with the shapes of the published ones are installed, compiled and stepped."""

import bz2
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import DownloadOptions, TarDatasetWithManifest
from compiler_gym.errors import BenchmarkInitError, DownloadFailed, UnknownNameError
from compiler_gym_gcc import GccEnv
from compiler_gym_gcc.datasets import AnghaBenchDataset, CHStoneDataset
from tests.datasets.conftest import make_tar
from tests.datasets.server import Server

from .conftest import needed

FAST = DownloadOptions(max_retries=0, stall_timeout=10, sleep=lambda seconds: None)
Make = Callable[..., GccEnv]

ANGHABENCH_TOP = "AnghaBench-d8034ac8562b8c978376008f4b33df01b8887b19"
FUNCTION = b"""\
#define NULL ((void*)0)
typedef unsigned long size_t;  // Customize by platform.
typedef long intptr_t; typedef unsigned long uintptr_t;
typedef long scalar_t__;  // Either arithmetic or pointer type.
/* By default, we understand bool (as a convenience). */
typedef int bool;
#define false 0
#define true 1

/* Forward declarations */
typedef  struct TYPE_3__   TYPE_1__ ;

/* Type definitions */
struct TYPE_3__ { int len; char* body; } ;
typedef TYPE_1__ Buffer ;

/* Variables and functions */
 int /*<<< orphan*/  realloc_body (Buffer*) ;

void buf_write(Buffer *b, char c) {
    if (b->len == 7)
        realloc_body(b);
    b->body[b->len++] = c;
}
"""
ANGHABENCH = {
    f"{ANGHABENCH_TOP}/README.md": b"# AnghaBench\n",
    f"{ANGHABENCH_TOP}/8cc/extr_buffer.c_buf_write.c": FUNCTION,
    f"{ANGHABENCH_TOP}/linux/drivers/net/extr_a.c_f.c": b"int f(void) { return g(); }\n",
    f"{ANGHABENCH_TOP}/linux/drivers/net/extr_b.c_h.c": b"broken_t h(void) { return 0; }\n",
}
ANGHABENCH_NAMES = [
    "8cc/extr_buffer.c_buf_write",
    "linux/drivers/net/extr_a.c_f",
    "linux/drivers/net/extr_b.c_h",
]

CHSTONE_TOP = "patmos_HLS-e62d878ceb91e5a18007ca2e0a9602ee44ff7d59/benchmarks/CHStone"
MAIN = '#include <stdio.h>\nint main(void) {{ printf("%d\\n", {}); return 0; }}\n'
CHSTONE = {
    "adpcm/adpcm.c": MAIN.format(1),
    "aes/aes.c": '#include "aes.h"\n#include "aes_enc.c"\n' + MAIN.format("encrypt(KEYS)"),
    "aes/aes.h": "#define KEYS 3\n",
    "aes/aes_enc.c": "static int encrypt(int k) { return k * 2; }\n",
    "blowfish/bf.c": '#include "bf_skey.c"\n' + MAIN.format("key()"),
    "blowfish/bf_skey.c": "int key() { return 4; }\n",
    # C of its time: an implicit int, and headers without an ending.
    "dfadd/dfadd.c": '#include "softfloat.c"\n' + MAIN.format("add(1, 2)"),
    "dfadd/softfloat.c": '#include "softfloat-macros"\nstatic add(a, b) { return SUM(a, b); }\n',
    "dfadd/softfloat-macros": "#define SUM(a, b) ((a) + (b))\n",
    "dfdiv/dfdiv.c": MAIN.format(5),
    "dfmul/dfmul.c": MAIN.format(6),
    "dfsin/dfsin.c": MAIN.format(7),
    "gsm/gsm.c": '#include "lpc.c"\n' + MAIN.format("lpc()"),
    "gsm/lpc.c": "int lpc() { return 8; }\n",
    "jpeg/main.c": '#include "decode.c"\n' + MAIN.format("decode()"),
    "jpeg/decode.c": "int decode() { return 9; }\n",
    "mips/mips.c": MAIN.format(10),
    "motion/mpeg2.c": MAIN.format(11),
    "sha/sha_driver.c": '#include "sha.c"\n' + MAIN.format("sha()"),
    "sha/sha.c": "int sha() { return 12; }\n",
    "sha/Makefile": "all:\n",
}
CHSTONE_NAMES = [
    "adpcm", "aes", "blowfish", "dfadd", "dfdiv", "dfmul",
    "dfsin", "gsm", "jpeg", "mips", "motion", "sha",
]  # fmt: skip


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """Serve an archive and a list as the published ones are; return where they are."""
    with Server().running() as server:

        def served(files: dict[str, bytes], names: list[str]) -> dict[str, Any]:
            archive, manifest = make_tar(files, "gz"), bz2.compress("\n".join(names).encode())
            server.files |= {"archive": archive, "manifest": manifest}
            return {
                "site_data_base": tmp_path / "site",
                "tar_urls": [server.url("ok/archive")],
                "tar_sha256": hashlib.sha256(archive).hexdigest(),
                "manifest_urls": [server.url("ok/manifest")],
                "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
                "download_options": FAST,
            }

        yield served


@pytest.fixture
def anghabench(serve: Callable[..., dict[str, Any]]) -> AnghaBenchDataset:
    return AnghaBenchDataset(**serve(ANGHABENCH, ANGHABENCH_NAMES))


@pytest.fixture
def chstone(serve: Callable[..., dict[str, Any]]) -> CHStoneDataset:
    files = {f"{CHSTONE_TOP}/{name}": text.encode() for name, text in CHSTONE.items()}
    return CHStoneDataset("gcc-12", **serve({**files, "README": b""}, []))


def listed(dataset: TarDatasetWithManifest) -> list[str]:
    return [str(uri).removeprefix(f"{dataset.name}/") for uri in dataset.benchmark_uris()]


def test_a_function_of_anghabench_is_an_episode(anghabench: AnghaBenchDataset) -> None:
    needed("gcc-12")
    assert (anghabench.installed, anghabench.size) == (False, 1_041_333)
    uri = "benchmark://anghabench-v1/8cc/extr_buffer.c_buf_write"
    with GccEnv(gcc_bin="gcc-12", datasets=[anghabench], reward_space="obj_size") as env:
        env.reset(benchmark=uri)
        assert str(env.benchmark) == uri
        assert env.command_line.endswith("-w -fpermissive -std=gnu99 -c src.i -o obj.o")
        *_, truncated, info = env.step(env.action_space["-Os"])
        assert not truncated, info
        assert env.text_size < env.observation["text_size_o0"]
        assert "buf_write" in env.asm
        assert not env.validate().benchmark_semantics_validated  # nothing says how to run it
        env.reset(benchmark="anghabench-v1/linux/drivers/net/extr_a.c_f")
        assert "call" in env.instruction_counts
    assert (anghabench.installed, anghabench.size) == (True, 3)
    assert listed(anghabench) == ANGHABENCH_NAMES
    assert anghabench.verify() == []


def test_a_function_that_does_not_compile_is_refused_at_reset(
    anghabench: AnghaBenchDataset,
) -> None:
    needed("gcc-12")
    with GccEnv(gcc_bin="gcc-12", datasets=[anghabench]) as env:
        with pytest.raises(BenchmarkInitError, match="unknown type name"):
            env.reset(benchmark="anghabench-v1/linux/drivers/net/extr_b.c_h")
        with pytest.raises(UnknownNameError, match="no program"):
            env.reset(benchmark="anghabench-v1/8cc/none")


def test_every_program_of_chstone_is_an_episode(chstone: CHStoneDataset) -> None:
    needed("gcc-12")
    assert (chstone.installed, chstone.size) == (False, 12)
    with GccEnv(gcc_bin="gcc-12", datasets=[chstone]) as env:
        for name in CHSTONE_NAMES:
            env.reset(benchmark=f"benchmark://chstone-v0/{name}")
            assert env.instruction_counts["call"] >= 1, name
        with pytest.raises(UnknownNameError, match="no program"):
            env.reset(benchmark="chstone-v0/dhrystone")
    assert (chstone.installed, chstone.size) == (True, 12)
    assert listed(chstone) == CHSTONE_NAMES
    assert chstone.verify() == []
    assert chstone.gcc.bin == "gcc-12"


def test_an_unpacked_program_contains_all_its_files(chstone: CHStoneDataset) -> None:
    benchmark = chstone.benchmark("benchmark://chstone-v0/dfadd")
    names = sorted(source.filename for source in benchmark.sources)
    assert names == ["dfadd.c", "softfloat-macros", "softfloat.c"]


def test_an_archive_that_is_not_the_published_one_is_refused(
    serve: Callable[..., dict[str, Any]],
) -> None:
    served: dict[str, Any] = serve(ANGHABENCH, ANGHABENCH_NAMES) | {"tar_sha256": "0" * 64}
    dataset = AnghaBenchDataset(**served)
    with pytest.raises(DownloadFailed, match="its sha256 is"):
        dataset.install()
    assert not dataset.installed


def test_the_names_and_addresses_are_the_published_ones(tmp_path: Path) -> None:
    angha, stone = AnghaBenchDataset(tmp_path), CHStoneDataset("gcc", tmp_path)
    assert (angha.name, stone.name) == ("benchmark://anghabench-v1", "benchmark://chstone-v0")
    for dataset, repository in ((angha, "brenocfg/AnghaBench"), (stone, "ChrisCummins/patmos_HLS")):
        assert dataset.tar_urls[0].startswith(f"https://github.com/{repository}/archive/")
        assert dataset.tar_sha256 is not None
    assert listed(stone) == CHSTONE_NAMES  # which need no archive to be listed
