// What both ways to exchange know of a request under way.
#pragma once

#include <cstddef>
#include <limits>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::service {

inline constexpr double long_ago = -std::numeric_limits<double>::infinity();

// Until when a reply is waited for that had `limit` seconds until `deadline`, but had to wait for
// what was `computed` before it, and shares its core with `others`.
double extended(double deadline, double limit, double computed, std::size_t others);

// Keeps what the reply on `channel`, if it is there, says of its worker.
void note_reply(Channel& channel);

}  // namespace compiler_gym::service
