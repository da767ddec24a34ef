// The part of a worker's reply to a step that the transport needs, read in place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace compiler_gym::service {

// One item of a message.
struct Item {
  enum class Kind { Integer, Float, Other };
  Kind kind = Kind::Other;
  std::int64_t integer = 0;
  double number = 0;
};

// The tag of a `Stepped` and its fields in order. The class is defined in service/messages.py,
// which compares itself with these when it is imported.
inline constexpr std::int64_t stepped_tag = 19;
inline constexpr std::array<std::string_view, 10> stepped_fields = {
    "end",     "action_space", "no_effect", "observations", "applied",
    "failure", "warnings",     "core",      "seconds",      "is_crowded"};

// The fields of a `Stepped` that are read.
struct Stepped {
  int core = -1;
  double seconds = 0;
};

// Return nothing if the message is of another type or cannot be read.
std::optional<Stepped> read_stepped(std::string_view message);

}  // namespace compiler_gym::service
