// Who a program is: numbers of users, and the maps that give them to a namespace.

#pragma once

#include <sys/types.h>

namespace compiler_gym::box {

// The number that systems give to nobody, who owns nothing.
inline constexpr uid_t nobody = 65534;

// Numbers as the namespace of the box counts them.
struct User {
  uid_t user;
  gid_t group;
};

// Who a program becomes, and how.
struct Identity {
  User user;
  bool is_other;            // somebody else than who asks: nobody
  bool needs_namespace;     // of users: this process may not mount without
  bool is_root_regardless;  // it stays root, although it must not
};

// Returns who the program is to be: nobody, or whoever asks where `keeps_user`.
Identity identify(bool keeps_user);

// Whether this process may give files to nobody, and become nobody.
bool may_become_nobody();

// Whether the kernel shows this process what those of other users have open.
bool sees_into_others();

// Gives the namespace of the process `pid` below the folder `processes`, a /proc, its users.
bool map_users(int processes, pid_t pid, const char* users, const char* groups);

// The same for the first process of a box.
bool map_first(pid_t pid, const Identity& who);

}  // namespace compiler_gym::box
