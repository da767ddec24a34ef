#!/usr/bin/env bash
# arpy 2.4.0 keeps the padding of names in archives of the BSD form, which llvm-ar writes for macOS.
# Names are padded with NUL bytes to a multiple of eight. arpy returns the padding as a part of the
# name, so a lookup by the name that was archived fails. GNU archives with the same members are fine.
# Needs llvm-22.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install -q arpy==2.4.0
echo text >s.txt
for format in gnu bsd; do llvm-ar-22 --format=$format rc $format.a s.txt; done
cat >read.py <<'P'
import arpy
for name in ("gnu.a", "bsd.a"):
    archive = arpy.Archive(name)
    archive.read_all_headers()
    print(*archive.archived_files)
P
seen=$(venv/bin/python read.py | tr '\n' ' '); echo "$seen"
[ "$seen" = "b's.txt' b's.txt\x00\x00\x00\x00\x00\x00\x00' " ]
