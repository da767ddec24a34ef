// What of the host's files a program sees, and no more: no home, no socket, no other's files.

#pragma once

namespace compiler_gym::box {

// Folders with programs and libraries; a link of this name stays one.
inline constexpr const char* system_folders[] = {
    "/usr",   "/bin",    "/sbin", "/lib",       "/lib32",
    "/lib64", "/libx32", "/opt",  "/nix/store", "/gnu/store",
};

// What the C library and some interpreters read; accounts, keys and names of this host are not
// among them.
inline constexpr const char* system_files[] = {
    "/etc/alternatives", "/etc/fonts",        "/etc/ghostscript", "/etc/ld.so.cache",
    "/etc/ld.so.conf",   "/etc/ld.so.conf.d", "/etc/localtime",   "/etc/nsswitch.conf",
    "/etc/protocols",    "/etc/services",     "/etc/terminfo",    "/var/lib/ghostscript",
};

inline constexpr const char* devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
};

}  // namespace compiler_gym::box
