// The user identity of a program: user numbers, and the maps that define them in a namespace.

#pragma once

#include <sys/types.h>

namespace compiler_gym::box {

// The number of the user nobody, who owns no files.
inline constexpr uid_t nobody = 65534;

// Numbers in the namespace of the box.
struct User {
  uid_t user;
  gid_t group;
};

// The identity of a program, and how to assume it.
struct Identity {
  User user;
  bool is_other;            // the user nobody instead of the caller
  bool needs_namespace;     // this process may not mount without a user namespace
  bool is_root_regardless;  // root could not be avoided, although it must be
};

// Return the identity the program runs under: `nobody`, or the caller's own if `keeps_user`.
Identity identify(bool keeps_user);

// Return whether this process may give files to nobody, and become nobody.
bool can_become_nobody();

// Return whether the kernel shows this process the open files of other users.
bool can_inspect_others();

// Write the user maps of the process `pid` below the folder `processes`, a /proc.
bool map_users(int processes, pid_t pid, const char* users, const char* groups);

// Like map_users, for the first process of a box.
bool map_first(pid_t pid, const Identity& who);

}  // namespace compiler_gym::box
