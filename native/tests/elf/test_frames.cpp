#include "compiler_gym/elf/frames.h"

#include <doctest/doctest.h>

#include "bytes.h"

namespace compiler_gym::elf {

using namespace compiler_gym::tests;

namespace {

// One function at 0x5000 of 0x40 bytes, which saves two registers and has its table at 0x9000.
std::string make_frames() {
  Bytes common, entry;
  common.add<std::uint32_t>(0).add<std::uint8_t>(1).add_text(std::string_view("zLR\0", 4));
  common.add<std::uint8_t>(1).add<std::uint8_t>(0x78).add<std::uint8_t>(16);
  common.add<std::uint8_t>(2).add<std::uint8_t>(0).add<std::uint8_t>(0);  // absolute addresses
  common.text.resize(20);
  entry.add<std::uint32_t>(28).add<std::uint64_t>(0x5000).add<std::uint64_t>(0x40);
  entry.add<std::uint8_t>(8).add<std::uint64_t>(0x9000);
  entry.add<std::uint8_t>(0x90).add<std::uint8_t>(1).add<std::uint8_t>(0x83).add<std::uint8_t>(2);
  entry.text.resize(36);
  Bytes all;
  all.add<std::uint32_t>(common.text.size()).add_text(common.text);
  all.add<std::uint32_t>(entry.text.size()).add_text(entry.text);
  return all.add<std::uint32_t>(0).text;
}

// Two calls, of which the second has a landing pad at 0x20.
std::string make_table() {
  return std::string("\xff\xff\x01\x08\x00\x04\x00\x00\x04\x04\x20\x00", 12);
}

}  // namespace

TEST_CASE("an entry has its function, its table and its landing pad") {
  const auto data = make_frames(), table = make_table();
  const auto frames = read_frames({data, 0x100}, {table, 0x9000}, {});
  REQUIRE(frames.size.size() == 1);
  CHECK(frames.offset[0] == 24);
  CHECK(frames.size[0] == 40);
  CHECK(frames.function[0] == 0x5000);
  CHECK(frames.function_size[0] == 0x40);
  CHECK(frames.saved[0] == 2);
  CHECK(frames.tables[0] == 0x9000);
  CHECK(frames.landing[0] == 0x5020);
}

TEST_CASE("a table elsewhere, or one that is cut off, has no landing pad") {
  const auto data = make_frames(), table = make_table();
  CHECK(read_frames({data, 0x100}, {table, 0x8000}, {}).landing[0] == 0);
  for (std::size_t size = 0; size < table.size(); ++size) {
    CHECK(read_frames({data, 0x100}, {table.substr(0, size), 0x9000}, {}).landing[0] == 0);
  }
}

TEST_CASE("entries that are cut off are left out") {
  const auto data = make_frames();
  for (std::size_t size = 0; size < data.size() - 4; ++size) {
    CHECK(read_frames({data.substr(0, size), 0x100}, {}, {}).size.empty());
  }
}

}  // namespace compiler_gym::elf
