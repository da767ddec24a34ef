#include "script.h"

#include <algorithm>
#include <cctype>

namespace compiler_gym::driver {

namespace {

bool is_in_name(char c) {
  return isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_.$/\\~=+[]*?-:^!").find(c) != std::string_view::npos;
}

// The last name before a parenthesis is a keyword, a section with a type, or files.
bool is_file(std::string_view name) {
  const bool is_keyword = std::ranges::all_of(
      name, [](unsigned char c) { return isupper(c) || isdigit(c) || c == '_'; });
  if (name == "EXCLUDE_FILE") return true;
  if (name.empty() || is_keyword) return false;
  const bool is_operator = std::ranges::none_of(
      name, [](unsigned char c) { return isalnum(c) || c == '?' || c == '['; });
  return !is_operator && !(name.starts_with('.') && name.find('/') == name.npos) &&
         std::string_view(":=+-!~").find(name.back()) == std::string_view::npos;
}

}  // namespace

bool names_files(std::string_view text) {
  std::string_view name;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("/*")) {
      const size_t end = text.find("*/", at + 2);
      at = end == text.npos ? text.size() : end + 2;
    } else if (text[at] == '"') {  // a quoted name can be anything
      const size_t end = std::min(text.find('"', at + 1), text.size());
      name = text.substr(at, end - at);
      at = end + 1;
    } else if (is_in_name(text[at])) {
      const size_t start = at;
      while (at < text.size() && is_in_name(text[at]) && !text.substr(at).starts_with("/*")) ++at;
      name = text.substr(start, at - start);
      if (name == "INCLUDE") return true;  // another script, which is not read here
    } else {
      if (text[at] == '(' && is_file(name)) return true;
      if (!isspace(static_cast<unsigned char>(text[at]))) name = {};
      ++at;
    }
  }
  return false;
}

}  // namespace compiler_gym::driver
