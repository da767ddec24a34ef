# SPDX-License-Identifier: MIT
"""The processor is what Linux says of it."""

import os
from pathlib import Path

import pytest

from compiler_gym.envs.llvm import (
    LlvmEnv,
)
from compiler_gym.envs.llvm.observations import cpu


def test_the_processor_is_described(env: LlvmEnv) -> None:
    env.reset()
    cpu = env.observation["CpuInfo"]
    assert cpu["cores_count"] == os.cpu_count()
    assert cpu in env.observation.spaces["CpuInfo"].space


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32K", 32 << 10),
        ("1M", 1 << 20),
        ("2G", 2 << 30),
        ("512", 512),
        ("", 0),
        ("K", 0),
        ("xK", 0),
    ],
)
def test_sizes_are_read_as_linux_writes_them(text: str, size: int) -> None:
    assert cpu._bytes_of_size(text) == size  # pyright: ignore[reportPrivateUsage]  # tested on its own


def test_every_documented_number_is_there_and_caches_are_those_of_linux() -> None:
    found = cpu.cpu_info()
    assert set(found) == {*cpu.CPU_COUNTS, "name"}
    numbers = [found[name] for name in cpu.CPU_COUNTS]
    assert all(isinstance(number, int) and number >= 0 for number in numbers)
    for level in ("l1d", "l1i", "l2", "l3", "l4"):
        count, size = found[f"{level}_cache_count"], found[f"{level}_cache_size"]
        assert (count == 0) == (size == 0)


def test_a_machine_that_says_nothing_has_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(self: Path, *args: object, **kwargs: object) -> str:
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", silent)
    found = cpu.cpu_info.__wrapped__()
    assert found["name"] == ""
    assert {found[name] for name in cpu.CPU_COUNTS if "cache" in name} == {0}
