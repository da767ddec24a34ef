#include "files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>

namespace compiler_gym::driver {

namespace {

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

bool write_all(int file, std::string_view data) {
  while (!data.empty()) {
    const ssize_t count = write(file, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data.remove_prefix(count);
  }
  return true;
}

}  // namespace

std::optional<std::string> read_regular(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) || !S_ISREG(facts.st_mode)) return {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  std::string data;
  data.resize(facts.st_size + 1);
  size_t size = 0;
  ssize_t count = 0;
  while ((count = read(file, data.data() + size, data.size() - size)) > 0) {
    size += count;
    if (size == data.size()) data.resize(2 * size);
  }
  close(file);
  if (count < 0) return {};
  data.resize(size);
  return data;
}

std::string sha256(std::string_view data) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(data.data());
  std::string digits;
  // LLVM's own toHex pulls in its streams, ten times the size of everything else here.
  for (const uint8_t byte : llvm::SHA256::hash(llvm::ArrayRef(bytes, data.size())))
    for (const int half : {byte >> 4, byte & 15}) digits += "0123456789abcdef"[half];
  return digits;
}

void write_whole(const std::string& path, std::string_view data) {
  for (size_t at = 1; (at = path.find('/', at)) != path.npos; ++at)
    mkdir(path.substr(0, at).c_str(), 0777);
  std::string partial = path + ".XXXXXX";
  const int file = mkostemp(partial.data(), O_CLOEXEC);
  if (file < 0) return;
  const bool is_written = write_all(file, data);
  close(file);
  if (!is_written || rename(partial.c_str(), path.c_str())) unlink(partial.c_str());
}

std::string extend_file(const std::string& path, size_t size, std::string_view tail,
                        std::string_view header) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  bool is_written = file >= 0 && lseek(file, size, SEEK_SET) >= 0 && write_all(file, tail) &&
                    pwrite(file, header.data(), header.size(), 0) == ssize_t(header.size());
  const std::string error = is_written ? "" : strerror(errno);
  if (file >= 0) close(file);
  if (!is_written) unlink(path.c_str());
  return error;
}

bool is_replaceable(const std::string& path) {
  struct stat facts;
  return lstat(path.c_str(), &facts) ? errno == ENOENT : S_ISREG(facts.st_mode);
}

bool replace_file(const std::string& from, const std::string& to) {
  if (!rename(from.c_str(), to.c_str())) return true;
  const auto data = read_regular(from);
  struct stat facts;
  if (!data || stat(from.c_str(), &facts)) return false;
  std::string partial = to + ".XXXXXX";
  const int file = mkostemp(partial.data(), O_CLOEXEC);
  if (file < 0) return false;
  const bool is_whole = write_all(file, *data) && !fchmod(file, facts.st_mode & 07777);
  if (!close(file) && is_whole && !rename(partial.c_str(), to.c_str())) return true;
  unlink(partial.c_str());
  return false;
}

std::string cache_folder() {
  const std::string home = variable("HOME");
  std::string folder = variable("COMPILER_GYM_CACHE");
  if (folder.empty()) {
    folder = variable("XDG_CACHE_HOME");
    folder = (folder.empty() ? home + "/.cache" : folder) + "/compiler_gym";
  }
  return folder.starts_with("~/") ? home + folder.substr(1) : folder;
}

std::string stamp(const struct stat& facts) {
  std::string text;
  for (const long long fact :
       {(long long)facts.st_dev, (long long)facts.st_ino, (long long)facts.st_size,
        (long long)facts.st_mtim.tv_sec, (long long)facts.st_mtim.tv_nsec,
        (long long)facts.st_ctim.tv_sec, (long long)facts.st_ctim.tv_nsec})
    text += std::to_string(fact) + ' ';
  return text;
}

}  // namespace compiler_gym::driver
