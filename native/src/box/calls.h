// System calls without a function in older C libraries. Numbers from 424 on are the same on every
// architecture.

#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace compiler_gym::box {

struct MountAttributes {
  std::uint64_t set, cleared, propagation, user_namespace;
};

struct OpenHow {
  std::uint64_t flags, mode, resolve;
};

struct CloneArguments {
  std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
      set_tid_size, cgroup;
};

constexpr unsigned copy_tree = 1, whole_tree = 0x8000, this_one = AT_EMPTY_PATH;
constexpr std::uint64_t read_only = 1, no_setuid = 2, no_devices = 4, no_programs = 8;
constexpr std::uint64_t no_links = 4, no_magic = 2, beneath = 8;
constexpr std::uint64_t into_group = 0x200000000ULL;

inline int open_tree_copy(const char* path) {
  return static_cast<int>(
      syscall(428, AT_FDCWD, path, copy_tree | whole_tree | static_cast<unsigned>(O_CLOEXEC)));
}

// Attach the copy of a tree at `path`.
inline int attach(int tree, const char* path) {
  return static_cast<int>(syscall(429, tree, "", AT_FDCWD, path, 4 /* MOVE_MOUNT_F_EMPTY_PATH */));
}

inline int set_mount(int at, const char* path, unsigned flags, std::uint64_t set) {
  MountAttributes attributes{set, 0, 0, 0};
  return static_cast<int>(syscall(442, at, path, flags, &attributes, sizeof attributes));
}

inline int open_beneath(int folder, const char* path, std::uint64_t flags) {
  OpenHow how{flags | O_CLOEXEC, 0, no_links | no_magic | beneath};
  return static_cast<int>(syscall(437, folder, path, &how, sizeof how));
}

inline void close_others_on_exec(unsigned first) { syscall(436, first, ~0U, 4); }

}  // namespace compiler_gym::box
