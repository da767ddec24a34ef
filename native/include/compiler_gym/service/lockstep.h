// The requests and replies of a vector's step in which every row does the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::service {

// An array whose rows are written, one for each channel.
struct Rows {
  char* data = nullptr;
  std::size_t count = 0;
  std::size_t row_size = 0;

  char* row(std::size_t number) const { return data + number * row_size; }
};

using Number = std::variant<std::int64_t, double>;

// Where the replies to steps have what is asked for.
struct Places {
  std::size_t seen_at = 0;  // an observation of raw bytes
  std::size_t cost_at = 0;  // an observation that is a number
  bool cost_is_float = false;
  std::size_t count = 2;  // how many observations were asked for
};

// Has each channel hold a request, to be answered within its limit in seconds, if none holds one
// or awaits a reply; returns whether. Throws std::invalid_argument for other sizes.
bool hold_all(const std::vector<Channel*>& channels, std::vector<Bytes> payloads,
              const std::vector<double>& limits);

// Takes in the replies to steps of one action. Those that only say what was observed give a row of
// `seen`, a truth value in `no_effects`, and their cost; the others give nothing and are left.
// Throws std::invalid_argument for other sizes.
std::vector<std::optional<Number>> settle(const std::vector<Channel*>& channels, const Rows& seen,
                                          const Rows& no_effects, const Places& places);

}  // namespace compiler_gym::service
