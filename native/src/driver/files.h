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

// Writes `data` to the file `path`, which is there, and returns whether that went well.
bool write_over(const std::string& path, std::string_view data);

// Returns the folder of what can be computed again.
std::string cache_folder();

// Returns a text that differs when the file behind `facts` was replaced or written to.
std::string stamp(const struct stat& facts);

}  // namespace compiler_gym::driver
