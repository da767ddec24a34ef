# SPDX-License-Identifier: MIT
"""What is packed comes back, under either name that Python gives the library."""

import pytest

from compiler_gym.datasets.fetching import zstd

TEXT = b"define i32 @main() { ret i32 0 }\n" * 1000


def test_packing_round_trips_and_damage_is_detected() -> None:
    checked = {zstd.CompressionParameter.checksum_flag: 1}
    packed = zstd.compress(TEXT, options={int(key): one for key, one in checked.items()})
    assert len(packed) < len(TEXT) / 100
    frame = zstd.ZstdDecompressor()
    assert frame.decompress(packed, max_length=100) == TEXT[:100]
    assert not frame.eof
    assert frame.decompress(b"") == TEXT[100:]
    assert frame.eof
    with pytest.raises(zstd.ZstdError):
        zstd.ZstdDecompressor().decompress(packed[:-1] + bytes([packed[-1] ^ 1]))


def test_a_dictionary_makes_small_things_smaller() -> None:
    samples = [b"%%%d = add i32 %%%d, %d ; and more\n" % (n, n + 1, n * n) * 3 for n in range(999)]
    trained = zstd.train_dict(samples, 1000)
    packed = zstd.compress(samples[7], zstd_dict=trained)
    assert len(packed) < len(zstd.compress(samples[7]))
    again = zstd.ZstdDict(trained.dict_content)
    assert zstd.ZstdDecompressor(again).decompress(packed) == samples[7]
    with pytest.raises(zstd.ZstdError):
        zstd.ZstdDecompressor().decompress(packed)
