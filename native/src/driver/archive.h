// Archives of objects, including thin ones.

#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace compiler_gym::driver {

bool is_archive(std::string_view data);

// Call `use` with the name and the contents of each member of the archive `data`, which was read
// from `path`. Skips symbol tables, and everything after damaged data.
void for_each_member(std::string_view data, const std::string& path,
                     const std::function<void(std::string_view, std::string_view)>& use);

}  // namespace compiler_gym::driver
