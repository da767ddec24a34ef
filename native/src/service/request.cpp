#include "request.h"

#include <cmath>

#include "compiler_gym/service/reply.h"

namespace compiler_gym::service {

double extended(double deadline, double limit, double computed, std::size_t others) {
  if (others == 0 || std::isinf(deadline)) return deadline + computed;
  return deadline + computed + static_cast<double>(others) * limit;
}

void note_reply(Channel& channel) {
  const auto stepped = read_stepped(channel.frame());
  if (!stepped) return;
  channel.core = stepped->core;
  channel.seconds = stepped->seconds > 0 && std::isfinite(stepped->seconds) ? stepped->seconds : 0;
}

}  // namespace compiler_gym::service
