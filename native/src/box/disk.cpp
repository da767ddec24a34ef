#include "disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace compiler_gym::box {

namespace {

constexpr int most_open = 64;
constexpr int files_of_process = 2;  // KCMP_FILES

// The bytes and files counted so far; each file counts once, however many names and descriptors it
// has.
class Count {
 public:
  Held held;

  Count() {
    if (used_) std::memset(inodes_, 0, sizeof inodes_);
    used_ = 0;
  }

  void add(const struct stat& file) {
    if (S_ISDIR(file.st_mode) || file.st_nlink == 1 || is_new(file.st_ino))
      add_bytes(file.st_blocks * 512LL);
  }
  void add(ino_t inode, long long bytes) {
    if (is_new(inode)) add_bytes(bytes);
  }

 private:
  static constexpr unsigned long slots = 1UL << 18;
  static inline ino_t inodes_[slots];
  static inline unsigned long used_ = 0;

  void add_bytes(long long bytes) {
    held.bytes += bytes;
    ++held.files;
  }

  static bool is_new(ino_t inode) {
    if (used_ > slots / 4 * 3) return true;
    unsigned long at = inode * 0x9E3779B97F4A7C15UL >> 46;
    for (; inodes_[at]; at = (at + 1) % slots)
      if (inodes_[at] == inode) return false;
    inodes_[at] = inode;
    ++used_;
    return true;
  }
};

// Open a folder, even one that the program has made inaccessible to itself.
int open_folder(int at, const char* name, const struct stat& found, uid_t owner) {
  constexpr int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int folder = openat(at, name, how);
  if (folder >= 0 || errno != EACCES || found.st_uid != owner) return folder;
  const int path = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", path);
  if (path >= 0 && chmod(link, (found.st_mode & 0777) | 0700) == 0) {
    folder = openat(path, ".", how);
    if (chmod(link, found.st_mode & 0777)) errno = 0;
  }
  if (path >= 0) close(path);
  return folder;
}

// A walk through a folder of any depth with few descriptors: the outer folders are closed, and
// opened again on the way back.
class Walk {
 public:
  Walk(Count& count, uid_t owner, unsigned long most) : count_(count), owner_(owner), most_(most) {}
  ~Walk() {
    while (depth_ > 0)
      if (DIR* entries = levels_[--depth_].entries) closedir(entries);
    std::free(levels_);
  }

  // Return whether the walk is complete, or found more than `most`.
  bool through(int folder) {
    if (!enter(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))) return false;
    while (depth_ > 0 && count_.held.files <= most_) {
      DIR* entries = levels_[depth_ - 1].entries;
      const dirent* entry = readdir(entries);
      if (!entry) {
        if (!leave()) return false;
        continue;
      }
      const char* name = entry->d_name;
      struct stat found{};
      if (!std::strcmp(name, ".") || !std::strcmp(name, "..")) continue;
      if (fstatat(dirfd(entries), name, &found, AT_SYMLINK_NOFOLLOW)) continue;
      count_.add(found);
      if (!S_ISDIR(found.st_mode)) continue;
      const int below = open_folder(dirfd(entries), name, found, owner_);
      if (below < 0 && errno == EMFILE) return false;
      if (below >= 0 && !enter(below)) return false;
    }
    return true;
  }

 private:
  struct Level {
    DIR* entries;  // null: closed temporarily
    long place;
    dev_t device;
    ino_t inode;
  };

  Count& count_;
  uid_t owner_;
  unsigned long most_;
  Level* levels_ = nullptr;
  int depth_ = 0, room_ = 0;

  bool enter(int folder) {
    DIR* entries = folder < 0 ? nullptr : fdopendir(folder);
    if (!entries) {
      if (folder >= 0) close(folder);
      return false;
    }
    if (depth_ == room_) {
      room_ = room_ ? 2 * room_ : 256;
      void* larger = std::realloc(levels_, sizeof(Level) * static_cast<std::size_t>(room_));
      if (!larger) {
        closedir(entries);
        return false;
      }
      levels_ = static_cast<Level*>(larger);
    }
    levels_[depth_++] = {entries, 0, 0, 0};
    if (depth_ > most_open) {
      Level& outer = levels_[depth_ - 1 - most_open];
      struct stat found{};
      fstat(dirfd(outer.entries), &found);
      const long place = telldir(outer.entries);
      closedir(outer.entries);
      outer = {nullptr, place, found.st_dev, found.st_ino};
    }
    return true;
  }

  // Go back to the parent folder; return whether it is still the one that we came from.
  bool leave() {
    DIR* entries = levels_[--depth_].entries;
    bool is_same = true;
    if (depth_ > 0 && !levels_[depth_ - 1].entries) {
      Level& above = levels_[depth_ - 1];
      const int folder = openat(dirfd(entries), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      struct stat found{};
      is_same = folder >= 0 && fstat(folder, &found) == 0 && found.st_dev == above.device &&
                found.st_ino == above.inode && (above.entries = fdopendir(folder));
      if (is_same)
        seekdir(above.entries, above.place);
      else if (folder >= 0)
        close(folder);
    }
    closedir(entries);
    return is_same;
  }
};

// Return whether a process hides its open files. The kernel shows them to the `owner` of the
// process, unless its program is executable but not readable: it then assigns such a process to
// root, and likewise threads that have ended.
bool is_hidden(const char* path, pid_t pid, int thread, uid_t owner) {
  struct stat found{};
  char name[80], memory[64];
  if (errno != EACCES || stat(path, &found) || found.st_uid == owner) return false;
  std::snprintf(name, sizeof name, "/proc/%d/task/%d/statm", pid, thread);
  return read_text(name, memory, sizeof memory) && std::atoll(memory) > 0;
}

// Add the unlinked files that a thread has open, except its initial `streams`. Return false for a
// thread that hides them.
bool add_open(Count& count, pid_t pid, int thread, const struct stat (&streams)[3], uid_t owner) {
  char path[80];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/fd", pid, thread);
  DIR* entries = opendir(path);
  if (!entries) return !is_hidden(path, pid, thread, owner);
  while (const dirent* entry = readdir(entries)) {
    struct stat found{};
    if (entry->d_name[0] == '.' || fstatat(dirfd(entries), entry->d_name, &found, 0)) continue;
    bool is_ours = false;
    for (const struct stat& stream : streams)
      is_ours = is_ours || (stream.st_dev == found.st_dev && stream.st_ino == found.st_ino);
    if (S_ISREG(found.st_mode) && found.st_nlink == 0 && !is_ours) count.add(found);
  }
  closedir(entries);
  return true;
}

// Add the unlinked files that a thread has mapped.
void add_mapped(Count& count, pid_t pid, int thread) {
  char path[80], line[4608];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/maps", pid, thread);
  std::FILE* maps = std::fopen(path, "re");
  if (!maps) return;
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long begin = 0, end = 0, offset = 0, inode = 0;
    int name = 0;
    if (!std::strstr(line, " (deleted)\n")) continue;
    if (std::sscanf(line, "%lx-%lx %*s %lx %*s %lu %n", &begin, &end, &offset, &inode, &name) < 4)
      continue;
    // Shared memory has such names too; it counts as memory.
    bool is_memory = false;
    for (const char* kind : {"/dev/zero", "/SYSV", "/memfd:", "/[aio]"})
      is_memory = is_memory || !std::strncmp(line + name, kind, std::strlen(kind));
    if (!is_memory) count.add(inode, static_cast<long long>(offset + (end - begin)));
  }
  std::fclose(maps);
}

// Return whether the process showed its files.
bool add_nameless(Count& count, pid_t pid, const struct stat (&streams)[3], uid_t owner) {
  char path[64];
  bool is_shown = true;
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  each_number(path, [&](int thread) {  // threads may have separate files, and the first may end
    if (thread != pid && syscall(SYS_kcmp, pid, thread, files_of_process, 0, 0) == 0) return;
    is_shown = add_open(count, pid, thread, streams, owner) && is_shown;
    add_mapped(count, pid, thread);
  });
  return is_shown;
}

}  // namespace

Held count_held(int folder, const Seen& seen, uid_t owner, unsigned long most) {
  Count count;
  count.held.is_whole = Walk(count, owner, most).through(folder);
  struct stat streams[3] = {};
  for (int i = 0; i < 3; ++i) fstat(i, &streams[i]);
  // A program is also hidden while it is being executed, but not twice in a row.
  static bool was_hidden = false;
  bool is_shown = true;
  for (int i = 0; i < seen.count; ++i)
    is_shown = add_nameless(count, seen.all[i], streams, owner) && is_shown;
  count.held.is_shown = is_shown || !was_hidden;
  was_hidden = !is_shown;
  return count.held;
}

}  // namespace compiler_gym::box
