# SPDX-License-Identifier: MIT
"""The files of the host that every program may read: no home, socket, account or key.

The only such list: the helper, its Landlock rules and bubblewrap all use it.
"""

__all__ = ["DEVICES", "SYSTEM", "is_system"]

SYSTEM = (
    # Programs and libraries; a top-level symbolic link stays a link.
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
    "/nix/store", "/gnu/store",
    # Files that the C library and some interpreters read.
    "/etc/alternatives", "/etc/fonts", "/etc/ghostscript", "/etc/ld.so.cache", "/etc/ld.so.conf",
    "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/protocols",
    "/etc/services", "/etc/terminfo", "/var/lib/ghostscript",
)  # fmt: skip

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def is_system(path: str) -> bool:
    """Return whether `path`, which is absolute and without ``..``, is readable in every sandbox.

    >>> is_system("/usr/bin/true"), is_system("/usrlocal"), is_system("/gnu/store/x")
    (True, False, True)
    """
    return any(path == folder or path.startswith(f"{folder}/") for folder in SYSTEM)
