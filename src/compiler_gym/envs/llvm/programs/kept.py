# SPDX-License-Identifier: MIT
"""A cache of modules that are made from other files, so that each is made only once.

Each is stored in the cache directory, named after a hash of all its inputs. If the cache is not
writable, modules are made again.
"""

import hashlib
from collections.abc import Callable, Iterable

from compiler_gym.files import keep
from compiler_gym.files.paths import cache_path

__all__ = ["make_cached"]


def make_cached(made_from: Iterable[str | bytes], make: Callable[[], bytes]) -> bytes:
    """Return the result of `make`, from the cache if it was made from equal inputs before."""
    digest = hashlib.sha256()
    for part in made_from:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    name = digest.hexdigest()
    path = cache_path("llvm-modules") / name[:2] / f"{name[2:]}.bc"
    try:
        return path.read_bytes()
    except OSError:
        pass
    contents = make()
    keep(path, contents)
    return contents
