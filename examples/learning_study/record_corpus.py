# SPDX-License-Identifier: MIT
"""Record code that people wrote, from builds of some of Debian's source packages.

    python examples/learning_study/record_corpus.py /tmp/corpus

None of them is a part of cbench-v1. It needs ``apt-get`` and Debian's mirror.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "record_zlib"))
from record import CC, fetch, run

PACKAGES = {
    "cjson": [["make", f"CC={CC}", "libcjson.so.1.7.15"]],
    "figlet": [["make", f"CC={CC}", f"LD={CC}", "figlet"]],
    "lua5.4": [["make", "-C", "src", f"CC={CC}", "lua", "luac"]],
    "lz4": [["make", "-C", "lib", f"CC={CC}", "liblz4.a"]],
    "mawk": [["./configure"], ["make", f"CC={CC}", "mawk"]],
    "zlib": [["./configure", "--static"], ["make", f"CC={CC}", "libz.a"]],
    "zopfli": [["make", f"CC={CC}", "zopfli"]],
}
"""How each package is built."""


def record(package: str, folder: Path) -> int:
    """Record the build of a package below `folder`; return how many programs there are."""
    recorded = folder / package / "recorded"
    if not recorded.is_dir():
        (folder / package).mkdir(parents=True, exist_ok=True)
        source = fetch(package, folder / package)
        for command in PACKAGES[package]:
            output = {"COMPILER_GYM_CC_OUTPUT": str(recorded)} if command[0] == "make" else {}
            run(command, source, **output)
    return len(list(recorded.glob("**/*.bc")))


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    for package in PACKAGES:
        print(f"{package}: {record(package, folder)} programs")


if __name__ == "__main__":
    main()
