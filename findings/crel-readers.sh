#!/usr/bin/env bash
# Readers of ELF files report that an object has no relocations if clang 22 wrote them as CREL.
# `-Wa,--crel` writes sections of type SHT_CREL (0x40000014), which lld links. GNU readelf 2.40
# prints "There are no relocations in this file." and exits with 0, LIEF 1.0.0 returns an empty list,
# and pyelftools 0.33 gives a section without entries; llvm-readelf lists three relocations.
# Needs clang-22, llvm-22 and binutils of Debian 12.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install -q lief==1.0.0 pyelftools==0.33
echo 'extern int g(int), data; int f(int a) { return g(a) + data; } int *p = &data;' >f.c
clang-22 -O1 -fno-asynchronous-unwind-tables -c f.c -Wa,--crel,--allow-experimental-crel
count=$(llvm-readelf-22 -r f.o | grep -c R_X86_64)
said=$(readelf -r f.o | tr -d '\n')
cat >read.py <<'P'
import warnings
import lief
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
warnings.simplefilter("ignore")
sections = [s for s in ELFFile(open("f.o", "rb")).iter_sections() if s.name.startswith(".crel")]
print(len(list(lief.parse("f.o").relocations)), len(sections),
      sum(isinstance(s, RelocationSection) for s in sections))
P
seen="$count; $said; $(venv/bin/python read.py)"; echo "$seen"
[ "$seen" = "3; There are no relocations in this file.; 0 2 0" ]
