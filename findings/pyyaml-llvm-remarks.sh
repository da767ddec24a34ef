#!/usr/bin/env bash
# PyYAML 6.0.4 reads the names of C functions in LLVM 22's optimisation remarks as booleans.
# LLVM writes `Function: no` without quotes, which is a string in YAML 1.2. PyYAML follows YAML 1.1,
# where no, off, on and yes are booleans. Seen: eight functions become six values, two of them
# False and True, so that remarks about `no` and `off` are counted together.
# Needs clang-22 (Debian package clang-22).
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install -q pyyaml==6.0.4
for name in no on off yes y n plain other; do
  echo "static int $name""_1(int a) { return a + 1; } int $name(int a) { return $name""_1(a) * 2; }"
done >names.c
clang-22 -O2 -c names.c -fsave-optimization-record
cat >read.py <<'P'
import yaml
class Loader(yaml.SafeLoader): pass
Loader.add_multi_constructor("!", lambda loader, tag, node: loader.construct_mapping(node))
found = {remark["Function"] for remark in yaml.load_all(open("names.opt.yaml"), Loader)}
print(*sorted(map(repr, found)))
P
seen=$(venv/bin/python read.py); echo "$seen"
[ "$seen" = "'n' 'other' 'plain' 'y' False True" ]
