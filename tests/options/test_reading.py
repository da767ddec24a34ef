# SPDX-License-Identifier: MIT
from compiler_gym.options import ArchiveLimits, ReadOptions, list_options


def test_an_archive_may_unpack_to_a_multiple_of_its_size_and_to_little_at_any() -> None:
    limits = ArchiveLimits(max_bytes=10_000, max_ratio=10, small=100)
    assert [limits.limit_bytes(size) for size in (1, 50, 5000)] == [100, 500, 10_000]


def test_the_command_line_offers_what_a_user_knows_of_programs() -> None:
    offered = {name: one.spelling.name or name for name, one in list_options(ReadOptions).items()}
    assert list(offered.values()) == ["suffix", "license", "source", "language"]
    assert ".c" in ReadOptions().suffixes
