#include "compiler_gym/service/lockstep.h"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "compiler_gym/service/reply.h"

namespace compiler_gym::service {

namespace {

// Some encoders write 2.0 as 2.
std::optional<Number> number_of(const Item& item, bool as_float) {
  if (item.kind == Item::Kind::Integer) {
    if (as_float) return static_cast<double>(item.integer);
    return item.integer;
  }
  if (item.kind == Item::Kind::Float && as_float) return item.number;
  return std::nullopt;
}

struct Usual {
  std::string_view seen;
  Number cost;
  bool no_effect;
};

// The defaults for fields that a reply does not contain.
std::optional<Usual> usual_in(std::string_view message, std::size_t row_size,
                              const Places& places) {
  const auto reply = read_stepped(message);
  if (!reply || !reply->is_usual || reply->observation_count != places.count) {
    return std::nullopt;
  }
  const auto seen = reply->observation(places.seen_at);
  const auto cost = reply->observation(places.cost_at);
  if (!seen || !cost || seen->kind != Item::Kind::Bytes || seen->bytes.size() != row_size) {
    return std::nullopt;
  }
  const auto number = number_of(*cost, places.cost_is_float);
  if (!number) return std::nullopt;
  return Usual{seen->bytes, *number, reply->no_effect};
}

}  // namespace

bool hold_all(const std::vector<Channel*>& channels, std::vector<Bytes> payloads,
              const std::vector<double>& limits) {
  if (payloads.size() != channels.size() || limits.size() != channels.size()) {
    throw std::invalid_argument("expected a payload and a limit for each channel");
  }
  for (const Channel* channel : channels) {
    if (channel->awaits || channel->is_held()) return false;
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    channels[i]->hold(std::move(payloads[i]), limits[i]);
  }
  return true;
}

std::vector<std::optional<Number>> settle(const std::vector<Channel*>& channels, const Rows& seen,
                                          const Rows& no_effects, const Places& places) {
  if (seen.count != channels.size() || no_effects.count != channels.size() ||
      (!channels.empty() && no_effects.row_size != 1)) {
    throw std::invalid_argument("expected a row for each channel, and a truth value");
  }
  std::vector<std::optional<Number>> costs(channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    Channel& channel = *channels[i];
    const auto usual = usual_in(channel.frame(), seen.row_size, places);
    if (!usual) continue;
    std::memcpy(seen.row(i), usual->seen.data(), seen.row_size);
    *no_effects.row(i) = usual->no_effect ? 1 : 0;
    costs[i] = usual->cost;
    channel.forget_frame();
    channel.awaits = false;
  }
  return costs;
}

}  // namespace compiler_gym::service
