# SPDX-License-Identifier: MIT
"""What of the host's files every program may read: no home, no socket, no account, no key.

The helper, its Landlock rules and bubblewrap are all told these, and nothing else has a list.
"""

__all__ = ["DEVICES", "SYSTEM", "is_system"]

SYSTEM = (
    # Programs and libraries; a link at the top stays one.
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
    "/nix/store", "/gnu/store",
    # What the C library and some interpreters read.
    "/etc/alternatives", "/etc/fonts", "/etc/ghostscript", "/etc/ld.so.cache", "/etc/ld.so.conf",
    "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/protocols",
    "/etc/services", "/etc/terminfo", "/var/lib/ghostscript",
)  # fmt: skip

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def is_system(path: str) -> bool:
    """Return whether `path`, which is absolute and holds no ``..``, is seen by every program.

    >>> is_system("/usr/bin/true"), is_system("/usrlocal"), is_system("/gnu/store/x")
    (True, False, True)
    """
    return any(path == one or path.startswith(f"{one}/") for one in SYSTEM)
