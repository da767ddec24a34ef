# SPDX-License-Identifier: MIT
"""Choose the packages of the committed lock by a rule, and write it.

A source package of Debian 12's main archive counts when

* it makes binaries for any machine, and asks for no compiler of another language,
* it is built against nothing but what every build has and the few tools and libraries below,
* its upstream archive has between 30 and 300 kB (70 of them), or up to 1 MB (30),
* it is no original of a program in ``programs/``, and no older or newer copy of another one,
* its source could be fetched where the lock was made.

Of these, the sections of the archive (games, math, mail, sound, ...) take turns, and in each the
order is that of the digests of the names: nobody picked one by hand. Run it as
``python -m scripts.packages_lock CACHE FILE [NAME ...]``; the names are those of sources that are
known not to be had.

``--after LOCK`` continues the same order behind the packages of an existing lock, so that the new
packages have never been looked at: ``--small`` and ``--large`` say how many of each size. Their
names are printed in the order of the draw.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path

from compiler_gym.errors import DownloadFailed
from compiler_gym.files import scratch_directory
from compiler_gym.lazy import parts
from compiler_gym_corpus.packages import (
    LockedPackage,
    PackageLock,
    PrivateApt,
    UnpackedSupplier,
    find_lock,
    may_be_c,
    read_lock,
    write_lock,
)

SIZES = ((30_000, 300_000), (300_001, 1_000_000))
"""The bytes of their upstream archives: the smaller ones and the larger ones."""
MIRRORS = (
    "http://deb.debian.org/debian bookworm main",
    "http://deb.debian.org/debian-security bookworm-security main",
)
_BUILT_AGAINST = {
    *("debhelper", "debhelper-compat", "dpkg-dev", "autotools-dev", "dh-autoreconf"),
    *("autoconf", "automake", "libtool", "pkg-config", "pkgconf", "bison", "flex"),
    *("zlib1g-dev", "libncurses-dev", "libbz2-dev", "libpopt-dev"),
}
_MOST_PACKAGING = 60_000
_ORIGINALS = re.compile(
    r"bzip2|lbzip2|libjpeg|jpeg|tiff|lame|gsm|libgsm|ispell|ghostscript|blowfish|susan|lzop"
)
_SERIES = re.compile(r"[-.0-9]+$")


def main() -> None:
    """Write the lock."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("file", type=Path, help="where to write the lock")
    parser.add_argument("missing", nargs="*", help="sources that are not to be had")
    parser.add_argument("--after", help="the lock whose packages were drawn before")
    parser.add_argument("--small", type=int, default=70, help="packages up to 300 kB")
    parser.add_argument("--large", type=int, default=30, help="packages up to 1 MB")
    options = parser.parse_args()
    drawn = read_lock(find_lock(options.after)).packages if options.after else ()
    left_out = {*options.missing, *(package.name for package in drawn)}
    series = {_SERIES.sub("", package.name) for package in drawn}
    apt = PrivateApt(options.cache / "apt", MIRRORS).prepare()
    sources = [fields for fields in apt.sources() if _counts(fields)]
    front_end = parts("corpus_builders")["llvm"].load().unit_compiler
    supplier = UnpackedSupplier(options.cache, PackageLock(MIRRORS, ()), front_end.packages)
    names: list[str] = []
    for count, (least, most) in zip((options.small, options.large), SIZES, strict=True):
        found = {one["Package"]: one for one in sources if least <= _upstream_bytes(one) <= most}
        order = (
            name
            for name in _in_turns(found)
            if name not in left_out and _SERIES.sub("", name) not in series
        )
        chosen = list(islice((name for name in order if _is_there(supplier, found[name])), count))
        print(f"{len(found)} packages of {least:,} to {most:,} bytes fulfil the rule", flush=True)
        print("drawn:", *chosen, flush=True)
        names += chosen
    write_lock(options.file, supplier.lock_packages(sorted(names)))


def _is_there(supplier: UnpackedSupplier, fields: dict[str, str]) -> bool:
    """Return whether a source can be fetched; it is kept in the cache."""
    package = LockedPackage(fields["Package"], fields["Version"])
    try:
        with scratch_directory("source") as folder:
            supplier.source(package, Path(folder))
    except DownloadFailed as error:
        print(f"{package.name} is left out: {str(error).splitlines()[-1][-60:]}", flush=True)
        return False
    return True


def _counts(fields: dict[str, str]) -> bool:
    """Return whether a source package fulfils the rule."""
    asked = ", ".join(fields.get(name, "") for name in ("Build-depends", "Build-depends-arch"))
    names = {re.split(r"[\s(\[<:]", one.strip())[0] for one in asked.split(",") if one.strip()}
    return (
        may_be_c(fields)
        and names <= _BUILT_AGAINST
        and _bytes_of(fields, ".debian.tar") <= _MOST_PACKAGING
        and not _ORIGINALS.match(fields["Package"])
    )


def _upstream_bytes(fields: dict[str, str]) -> int:
    return _bytes_of(fields, ".orig")


def _bytes_of(fields: dict[str, str], part: str) -> int:
    lines = [line.split() for line in fields["Checksums-sha256"].split("\n") if line]
    return sum(int(size) for _, size, name in lines if part in name)


def _in_turns(found: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield the names, one of each section after the other; of a series only the first."""
    sections: dict[str, list[str]] = defaultdict(list)
    for name in sorted(found, key=lambda name: sha256(name.encode()).digest()):
        sections[found[name].get("Section", "")].append(name)
    seen = set[str]()
    for row in zip_longest(*(names for _, names in sorted(sections.items()))):
        for name in row:
            series = _SERIES.sub("", name or "")
            if name and series not in seen:
                seen.add(series)
                yield name


if __name__ == "__main__":
    main()
