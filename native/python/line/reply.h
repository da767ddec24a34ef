// What a worker says of a step, read where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace compiler_gym::line {

// One item of a message.
struct Item {
  enum class Kind { kNil, kFalse, kTrue, kInteger, kFloat, kBytes, kOther };
  Kind kind = Kind::kOther;
  std::int64_t integer = 0;
  double number = 0;
  std::string_view bytes;
};

// A `Stepped` of service/messages.py.
struct Stepped {
  bool no_effect = false;
  // Whether it says nothing else than what its one action did and what was observed: no end,
  // no other actions, no failure, no warnings.
  bool is_usual = false;
  std::string_view observations;  // one item after the other
  std::size_t observation_count = 0;
  int core = -1;
  double seconds = 0;

  // The observation at `place`.
  std::optional<Item> observation(std::size_t place) const;
};

// Returns nothing for another message, or none.
std::optional<Stepped> read_stepped(std::string_view message);

}  // namespace compiler_gym::line
