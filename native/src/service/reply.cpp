#include "compiler_gym/service/reply.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace compiler_gym::service {

namespace {

// Reads msgpack (github.com/msgpack/msgpack/blob/master/spec.md) from front to back.
class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}

  // Return whether all values so far were as expected.
  bool is_good() const { return is_good_; }
  std::string_view rest() const { return data_; }

  std::size_t array() {
    const std::uint8_t code = byte();
    if ((code & 0xf0) == 0x90) return code & 0x0f;
    if (code == 0xdc) return big(2);
    if (code == 0xdd) return big(4);
    return fail();
  }

  Item item() {
    const std::uint8_t code = byte();
    if (code < 0x80 || code >= 0xe0) return integer(static_cast<std::int8_t>(code));
    if (code < 0x90) return skip(2 * (code & 0x0f));
    if (code < 0xa0) return skip(code & 0x0f);
    if (code < 0xc0) return text(code & 0x1f);
    switch (code) {
      case 0xc0:
      case 0xc2:
      case 0xc3: return {};  // nil, false, true
      case 0xc4: return text(big(1));
      case 0xc5: return text(big(2));
      case 0xc6: return text(big(4));
      case 0xc7: return text(big(1) + 1);
      case 0xc8: return text(big(2) + 1);
      case 0xc9: return text(big(4) + 1);
      case 0xca: return number(std::bit_cast<float>(static_cast<std::uint32_t>(big(4))));
      case 0xcb: return number(std::bit_cast<double>(big(8)));
      case 0xcc: return integer(static_cast<std::int64_t>(big(1)));
      case 0xcd: return integer(static_cast<std::int64_t>(big(2)));
      case 0xce: return integer(static_cast<std::int64_t>(big(4)));
      case 0xcf: return unsigned_integer(big(8));
      case 0xd0: return integer(static_cast<std::int8_t>(big(1)));
      case 0xd1: return integer(static_cast<std::int16_t>(big(2)));
      case 0xd2: return integer(static_cast<std::int32_t>(big(4)));
      case 0xd3: return integer(static_cast<std::int64_t>(big(8)));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8: return text((std::uint64_t{1} << (code - 0xd4)) + 1);
      case 0xd9: return text(big(1));
      case 0xda: return text(big(2));
      case 0xdb: return text(big(4));
      case 0xdc: return skip(big(2));
      case 0xdd: return skip(big(4));
      case 0xde: return skip(2 * big(2));
      case 0xdf: return skip(2 * big(4));
      default: fail(); return {};
    }
  }

 private:
  std::size_t fail() {
    is_good_ = false;
    data_ = {};
    return 0;
  }

  std::uint8_t byte() { return static_cast<std::uint8_t>(big(1)); }

  std::uint64_t big(std::size_t size) {
    if (data_.size() < size) return fail();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<std::uint8_t>(data_[i]);
    }
    data_.remove_prefix(size);
    return value;
  }

  Item text(std::uint64_t size) {
    if (data_.size() < size) {
      fail();
    } else {
      data_.remove_prefix(size);
    }
    return {};
  }

  Item skip(std::uint64_t count) {
    if (++depth_ > deepest) fail();
    for (; count > 0 && is_good_; --count) item();
    --depth_;
    return {};
  }

  static Item integer(std::int64_t value) {
    Item item;
    item.kind = Item::Kind::Integer;
    item.integer = value;
    return item;
  }

  static Item unsigned_integer(std::uint64_t value) {
    if (value > std::numeric_limits<std::int64_t>::max()) return {};
    return integer(static_cast<std::int64_t>(value));
  }

  static Item number(double value) {
    Item item;
    item.kind = Item::Kind::Float;
    item.number = value;
    return item;
  }

  static constexpr int deepest = 64;

  std::string_view data_;
  bool is_good_ = true;
  int depth_ = 0;
};

// The index of a field, computed at compile time; an unknown name does not compile.
consteval std::size_t place_of(std::string_view field) {
  const auto* const found = std::find(stepped_fields.begin(), stepped_fields.end(), field);
  if (found == stepped_fields.end()) throw "expected the name of a field of Stepped";
  return static_cast<std::size_t>(found - stepped_fields.begin());
}

}  // namespace

std::optional<Stepped> read_stepped(std::string_view message) {
  Reader reader(message);
  if (reader.array() != 1 + stepped_fields.size()) return std::nullopt;
  const Item tag = reader.item();
  if (tag.kind != Item::Kind::Integer || tag.integer != stepped_tag) return std::nullopt;
  Stepped stepped;
  std::array<Item, stepped_fields.size()> items;
  for (Item& item : items) item = reader.item();
  if (!reader.is_good() || !reader.rest().empty()) return std::nullopt;
  const Item& core = items[place_of("core")];
  const Item& seconds = items[place_of("seconds")];
  stepped.core = core.kind == Item::Kind::Integer ? static_cast<int>(core.integer) : -1;
  stepped.seconds = seconds.kind == Item::Kind::Float ? seconds.number : 0.0;
  return stepped;
}

}  // namespace compiler_gym::service
