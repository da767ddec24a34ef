#include "archive.h"

#include <ar.h>

#include <charconv>
#include <optional>

#include "files.h"

namespace compiler_gym::driver {

namespace {

constexpr std::string_view thin_magic = "!<thin>\n";

size_t number_in(std::string_view digits) {
  size_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

bool is_archive(std::string_view data) {
  return data.starts_with(ARMAG) || data.starts_with(thin_magic);
}

void for_each_member(std::string_view data, const std::string& path,
                     const std::function<void(std::string_view, std::string_view)>& use) {
  const bool is_thin = data.starts_with(thin_magic);
  std::string_view names;
  for (size_t at = SARMAG; at + sizeof(ar_hdr) <= data.size();) {
    const std::string_view header = data.substr(at, sizeof(ar_hdr));
    const size_t size = number_in(header.substr(48, header.find(' ', 48) - 48));
    std::string_view name = header.substr(0, 16);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    at += sizeof(ar_hdr);
    const bool is_table = name == "/" || name == "/SYM64/" || name == "//";
    const bool is_stored = !is_thin || is_table;
    if (is_stored && size > data.size() - at) return;
    const std::string_view contents = is_stored ? data.substr(at, size) : std::string_view();
    if (is_stored) at += size + size % 2;
    if (name == "//") names = contents;
    if (is_table) continue;
    if (name.starts_with('/')) {
      const size_t start = number_in(name.substr(1));
      if (start >= names.size()) return;
      name = names.substr(start, names.find('\n', start) - start);
    }
    if (name.ends_with('/')) name.remove_suffix(1);
    if (!is_thin) {
      use(name, contents);
      continue;
    }
    const bool is_absolute = name.starts_with('/');
    const std::string folder = is_absolute ? "" : path.substr(0, path.rfind('/') + 1);
    if (const auto member = read_regular(folder + std::string(name))) use(name, *member);
  }
}

}  // namespace compiler_gym::driver
