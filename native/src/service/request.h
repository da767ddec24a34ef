// The knowledge about a pending request that both kinds of exchange share.
#pragma once

#include <cstddef>
#include <limits>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::service {

inline constexpr double long_ago = -std::numeric_limits<double>::infinity();

// The extended deadline of a reply with `limit` seconds until `deadline`, which had to wait for the
// `computed` seconds of earlier requests and shares its core with `others`.
double extended(double deadline, double limit, double computed, std::size_t others);

// Store the worker's core and seconds from the reply on `channel`, if it has arrived.
void note_reply(Channel& channel);

}  // namespace compiler_gym::service
