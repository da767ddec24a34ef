#include "landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace compiler_gym::box {

namespace {

struct Rules {
  std::uint64_t files, network, scoped;
};

struct __attribute__((packed)) PathRule {
  std::uint64_t allowed;
  std::int32_t folder;
};

constexpr std::uint64_t execute = 1, write_file = 2, read_file = 4, read_folder = 8;
constexpr std::uint64_t truncate_file = 1 << 14, device_commands = 1 << 15;
constexpr std::uint64_t make_device = (1 << 6) | (1 << 11);

std::uint64_t all_of(int version) {
  std::uint64_t all = (1 << 13) - 1;
  if (version >= 2) all |= 1 << 13;
  if (version >= 3) all |= truncate_file;
  if (version >= 5) all |= device_commands;
  return all;
}

void allow(int rules, const char* path, std::uint64_t what) {
  const int at = open(path, O_PATH | O_CLOEXEC);
  if (at < 0) return;
  struct stat found{};
  fstat(at, &found);
  if (!S_ISDIR(found.st_mode))
    what &= execute | write_file | read_file | truncate_file | device_commands;
  const PathRule rule{what, at};
  syscall(445, rules, 1, &rule, 0);
  close(at);
}

}  // namespace

int landlock_version() {
  const long version = syscall(444, nullptr, 0, 1);
  return version > 0 ? static_cast<int>(version) : 0;
}

int make_rules(const Orders& orders, const char* scratch) {
  const int version = landlock_version();
  if (version == 0) return -1;
  const std::uint64_t all = all_of(version);
  Rules wanted{all, version >= 4 ? 3U : 0U, version >= 6 ? 3U : 0U};
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const int rules = static_cast<int>(syscall(444, &wanted, size, 0));
  if (rules < 0) return -1;
  const std::uint64_t seen = execute | read_file | read_folder;
  for (const char* path : orders.system) allow(rules, path, seen);
  for (const char* path : orders.devices)
    allow(rules, path, (seen | write_file | truncate_file) & all);
  allow(rules, "/proc", read_file | read_folder);
  for (const char* path : orders.shown) allow(rules, path, seen);
  allow(rules, scratch, all & ~make_device);
  return rules;
}

bool enforce(int rules) {
  if (rules < 0) return false;
  const bool is_on = syscall(446, rules, 0) == 0;
  close(rules);
  return is_on;
}

}  // namespace compiler_gym::box
