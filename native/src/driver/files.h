// Files that a driver reads and writes. No error here fails a build: unreadable files count as
// missing, and files that cannot be written are left out.

#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

namespace compiler_gym::driver {

// Return the contents of a regular file; a pipe or a device is never opened.
std::optional<std::string> read_regular(const std::string& path);

// Return the SHA-256 of `data` in hexadecimal digits.
std::string sha256(std::string_view data);

// Write the whole file `path` or nothing, creating its parent folders.
void write_whole(const std::string& path, std::string_view data);

// Append `tail` to the file `path` of `size` bytes and then replace its beginning by `header`, so
// that it is valid at every moment. If that fails, remove it, as a compiler does, and return the
// reason.
std::string extend_file(const std::string& path, size_t size, std::string_view tail,
                        std::string_view header);

// Return whether `path` is a regular file or does not exist, so that another file may take its
// place.
bool is_replaceable(const std::string& path);

// Replace `to` with the file `from` and its mode, completely or not at all.
bool replace_file(const std::string& from, const std::string& to);

// Return the folder for files that can be computed again.
std::string cache_folder();

// Return a text that differs after the file described by `facts` was replaced or written to.
std::string stamp(const struct stat& facts);

}  // namespace compiler_gym::driver
