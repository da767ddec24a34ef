#!/bin/sh
# compiler-gym-llvm-ar and compiler-gym-llvm-ranlib: CMake takes the beginning of compiler-gym-cc for
# the prefix of a toolchain, and looks for these names.
tool=${0##*/compiler-gym-}
for name in "$tool-22" "$tool" "${tool#llvm-}"; do
  if command -v "$name" >/dev/null; then exec "$name" "$@"; fi
done
echo "$0: $tool-22 not found; install it with: apt install llvm-22" >&2
exit 127
