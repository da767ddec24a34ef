#!/usr/bin/env bash
# llvm-strip 22 removes the effect of lld's --icf=safe from an object, although both are LLVM's.
# Safe folding needs the table of functions whose address matters (.llvm_addrsig), which refers to
# the symbol table. `llvm-strip --strip-debug` writes the table with sh_link=0; lld then warns that
# it "conservatively ignores" it. Seen: one of two equal functions is folded before, none after.
# Needs clang-22, llvm-22 and lld-22.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
cat >f.c <<'C'
__attribute__((noinline)) int f(int x) { return x * 7 + 3; }
__attribute__((noinline)) int g(int x) { return x * 7 + 3; }
int main(int count, char **words) { return f(count) + g(count); }
C
clang-22 -O1 -ffunction-sections -c f.c -o whole.o
llvm-strip-22 --strip-debug whole.o -o stripped.o
folded() {
  clang-22 -fuse-ld=lld -Wl,--icf=safe,--print-icf-sections "$1" -o program 2>&1 |
    grep -c "removing identical section $1:(.text.g)" || true
}
warned=$(clang-22 -fuse-ld=lld -Wl,--icf=safe stripped.o -o program 2>&1 | grep -c 'conservatively ignores')
seen="$(folded whole.o) $(folded stripped.o) $warned"; echo "$seen"
[ "$seen" = "1 0 1" ]
