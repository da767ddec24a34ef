// Files that a driver reads and leaves behind. Nothing here fails a build: what cannot be read is
// not there, and what cannot be written is left out.

#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

namespace compiler_gym::driver {

// Returns what a regular file holds; a pipe or a device is never opened.
std::optional<std::string> read_regular(const std::string& path);

// Returns the SHA-256 of `data`, in hexadecimal digits.
std::string sha256(std::string_view data);

// Writes the file `path` whole or not at all, and the folders that it needs.
void write_whole(const std::string& path, std::string_view data);

// Append `tail` to the file `path` of `size` bytes and then replace its beginning by `header`, so
// that it is valid at every moment. If that fails, remove it, as a compiler does, and return the
// reason.
std::string extend_file(const std::string& path, size_t size, std::string_view tail,
                        std::string_view header);

// Return whether `path` is a regular file or does not exist, so that another file may take its
// place.
bool is_replaceable(const std::string& path);

// Put the file `from` with its mode in the place of `to`, whole or not at all.
bool replace_file(const std::string& from, const std::string& to);

// Returns the folder of what can be computed again.
std::string cache_folder();

// Returns a text that differs when the file behind `facts` was replaced or written to.
std::string stamp(const struct stat& facts);

}  // namespace compiler_gym::driver
