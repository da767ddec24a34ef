#include "root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "calls.h"

namespace compiler_gym::box {

namespace {

constexpr int most_trees = 128;

// A copy of a part of the host's files, and its path in the box.
struct Tree {
  const char* path;
  int copy;
  bool is_folder;
};

struct Trees {
  Tree all[most_trees];
  int count = 0;

  const char* take(const char* path, std::uint64_t attributes) {
    struct stat found{};
    if (count == most_trees || stat(path, &found)) return nullptr;  // missing, so not needed
    const int copy = open_tree_copy(path);
    if (copy < 0) return "open_tree";
    if (set_mount(copy, "", this_one | whole_tree, attributes)) return "mount_setattr";
    all[count++] = {path, copy, S_ISDIR(found.st_mode)};
    return nullptr;
  }
};

// A symlink at the top level, as /bin often is, stays a symlink.
bool stays_link(const char* path) {
  struct stat found{};
  return !std::strchr(path + 1, '/') && lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

// Make the folders above `path`, which begins with a slash, below the current one.
void make_parents(const char* path) {
  char name[4096];
  std::snprintf(name, sizeof name, "%s", path + 1);
  for (char* at = std::strchr(name, '/'); at; at = std::strchr(at + 1, '/')) {
    *at = 0;
    mkdir(name, 0755);
    *at = '/';
  }
}

void make_place(const char* path, bool is_folder) {
  make_parents(path);
  if (is_folder) {
    mkdir(path + 1, 0755);
  } else {
    const int made = open(path + 1, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (made >= 0) close(made);
  }
}

void write_text(const char* path, const char* text) {
  make_parents(path);
  const int made = open(path + 1, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  if (made < 0) return;
  if (write(made, text, std::strlen(text)) < 0) errno = 0;
  close(made);
}

// Write passwd, group and hosts files that name no user of the host.
void write_accounts(User user) {
  char text[256];
  std::snprintf(text, sizeof text, "box:x:%u:%u:box:/box:/bin/sh\n", user.user, user.group);
  write_text("/etc/passwd", text);
  std::snprintf(text, sizeof text, "box:x:%u:\n", user.group);
  write_text("/etc/group", text);
  write_text("/etc/hosts", "127.0.0.1 localhost box\n");
}

const char* take_all(Trees& trees, const Orders& orders) {
  const std::uint64_t kept = read_only | no_setuid | no_devices;
  for (const char* path : orders.system) {
    if (stays_link(path)) continue;
    if (const char* failed = trees.take(path, kept)) return failed;
  }
  for (const char* path : orders.devices) {  // programs write to them, and they keep their modes
    if (const char* failed = trees.take(path, read_only | no_setuid | no_programs)) return failed;
  }
  for (const char* path : orders.shown) {
    if (const char* failed = trees.take(path, kept)) return failed;
  }
  return orders.work ? trees.take(orders.work, no_setuid | no_devices) : nullptr;
}

const char* copy_links(const Orders& orders) {
  char target[4096];
  for (const char* path : orders.system) {
    if (!stays_link(path)) continue;
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    if (symlink(target, path + 1) && errno != EEXIST) return "symlink";
  }
  return nullptr;
}

const char* make_scratch(const Orders& orders, User user) {
  char options[128];
  std::snprintf(options, sizeof options, "size=%lld,nr_inodes=100000,mode=755",
                orders.scratch_bytes);
  mkdir("scratch", 0755);
  if (mount("box", "scratch", "tmpfs", MS_NOSUID | MS_NODEV, options)) return "mount tmpfs";
  static constexpr const char* parts[][2] = {
      {"scratch/box", "box"}, {"scratch/tmp", "tmp"}, {"scratch/shm", "dev/shm"}};
  mkdir("dev", 0755);
  for (const auto& [from, to] : parts) {
    mkdir(from, 0700);
    mkdir(to, 0755);
    if (chown(from, user.user, user.group)) return "chown";
    const int part = open_tree_copy(from);
    if (part < 0 || attach(part, to)) return "mount the scratch folder";
    close(part);
  }
  if (umount2("scratch", MNT_DETACH)) return "umount";
  rmdir("scratch");
  return nullptr;
}

const char* make_devices() {
  for (const auto& [target, name] : {std::pair{"/proc/self/fd", "dev/fd"},
                                     {"/proc/self/fd/0", "dev/stdin"},
                                     {"/proc/self/fd/1", "dev/stdout"},
                                     {"/proc/self/fd/2", "dev/stderr"}}) {
    if (symlink(target, name)) return "symlink";
  }
  return nullptr;
}

const char* make_processes(int* writable) {
  mkdir("proc", 0555);
  if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr))
    return "mount /proc";
  if (writable && (*writable = open_tree_copy("proc")) < 0) return "open_tree";
  return set_mount(AT_FDCWD, "proc", 0, read_only) ? "mount_setattr" : nullptr;
}

bool copy_bytes(int from, int to) {
  for (;;) {
    const ssize_t moved = sendfile(to, from, nullptr, 1 << 24);
    if (moved == 0) return true;
    if (moved < 0 && errno != EINTR) return false;
  }
}

bool copy_file(int from, const char* name, int to, User user, mode_t mode) {
  const int source = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  const int target = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
  bool done = source >= 0 && target >= 0 && copy_bytes(source, target);
  if (target >= 0) done = fchown(target, user.user, user.group) == 0 && done;
  if (source >= 0) close(source);
  if (target >= 0) close(target);
  return done;
}

}  // namespace

bool copy_into(int from, int to, User user) {
  const int listed = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listed < 0 ? nullptr : fdopendir(listed);
  if (!entries) return false;
  bool done = true;
  while (const dirent* entry = readdir(entries)) {
    const char* name = entry->d_name;
    if (!std::strcmp(name, ".") || !std::strcmp(name, "..")) continue;
    struct stat found{};
    if (fstatat(from, name, &found, AT_SYMLINK_NOFOLLOW)) continue;
    if (S_ISREG(found.st_mode)) {
      done = copy_file(from, name, to, user, found.st_mode) && done;
    } else if (S_ISDIR(found.st_mode)) {
      done = mkdirat(to, name, 0755) == 0 && done;
      const int below = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      const int made = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      done = below >= 0 && made >= 0 && copy_into(below, made, user) && done;
      if (made >= 0 && fchown(made, user.user, user.group)) done = false;
      if (below >= 0) close(below);
      if (made >= 0) close(made);
    }
  }
  closedir(entries);
  return done;
}

bool give_folder(int folder, User user) {
  const int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listed < 0 ? nullptr : fdopendir(listed);
  if (!entries) return false;
  bool done = fchown(listed, user.user, user.group) == 0;
  while (const dirent* entry = readdir(entries)) {
    const char* name = entry->d_name;
    if (!std::strcmp(name, ".") || !std::strcmp(name, "..")) continue;
    const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) {
      done = give_folder(below, user) && done;
      close(below);
    } else {
      done = fchownat(folder, name, user.user, user.group, AT_SYMLINK_NOFOLLOW) == 0 && done;
    }
  }
  closedir(entries);
  return done;
}

void collect(const Orders& orders, int from, int to) {
  for (int i = 0; i < orders.collected.count; ++i) {
    const char* name = orders.collected.all[i];
    const int source = open_beneath(from, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    struct stat found{};
    if (source < 0) continue;
    if (fstat(source, &found) == 0 && S_ISREG(found.st_mode) &&
        found.st_size <= orders.scratch_bytes) {
      char place[32];  // a number from the host: a name from the program could refer to one of our
                       // files
      std::snprintf(place, sizeof place, "%d", i);
      const int target = openat(to, place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (target >= 0) {
        copy_bytes(source, target);
        close(target);
      }
    }
    close(source);
  }
}

const char* build_root(const Orders& orders, User user, int* writable) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr)) return "make mounts private";
  static Trees trees;
  if (const char* failed = take_all(trees, orders)) return failed;
  // The trees below the new root's mount point have been taken already.
  if (mount("box", "/usr", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=4096,mode=755"))
    return "mount tmpfs";
  if (chdir("/usr")) return "chdir";
  if (const char* failed = copy_links(orders)) return failed;
  if (const char* failed = make_scratch(orders, user)) return failed;
  mkdir("etc", 0755);
  for (int i = 0; i < trees.count; ++i) {
    const Tree& tree = trees.all[i];
    struct stat here{}, there{};
    if (stat(tree.path + 1, &here) == 0 && fstatat(tree.copy, "", &there, AT_EMPTY_PATH) == 0 &&
        here.st_dev == there.st_dev && here.st_ino == there.st_ino) {
      close(tree.copy);
      continue;
    }
    make_place(tree.path, tree.is_folder);
    if (attach(tree.copy, tree.path + 1)) return "move_mount";
    close(tree.copy);
  }
  if (const char* failed = make_devices()) return failed;
  if (const char* failed = make_processes(writable)) return failed;
  write_accounts(user);
  if (set_mount(AT_FDCWD, ".", 0, read_only)) return "mount_setattr";
  if (syscall(SYS_pivot_root, ".", ".")) return "pivot_root";
  if (umount2(".", MNT_DETACH)) return "umount";
  return chdir("/") ? "chdir" : nullptr;
}

}  // namespace compiler_gym::box
