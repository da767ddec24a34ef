#include "compiler_gym/elf/units.h"

#include <doctest/doctest.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Compression.h>

#include "bytes.h"
#include "compiler_gym/elf/file.h"

namespace compiler_gym::elf {

using namespace compiler_gym::tests;

namespace {

// DWARF 4: one unit with a name, a low address and a size.
const std::string abbreviations("\x01\x11\x00\x03\x08\x11\x01\x12\x06\x00\x00\x00", 12);

std::string make_unit() {
  Bytes body;
  body.add<std::uint16_t>(4).add<std::uint32_t>(0).add<std::uint8_t>(8).add<std::uint8_t>(1);
  body.add_text(std::string_view("a.c\0", 4));
  body.add<std::uint64_t>(0x1000).add<std::uint32_t>(0x30);
  return Bytes().add<std::uint32_t>(body.text.size()).add_text(body.text).text;
}

}  // namespace

TEST_CASE("a unit has its name and its addresses") {
  const auto units = read_units(make_file(
      {{".debug_info", 1, 0, 0, make_unit()}, {".debug_abbrev", 1, 0, 0, abbreviations}}));
  CHECK(units.name == std::vector<std::string>{"a.c"});
  CHECK(units.unit == std::vector<std::uint64_t>{0});
  CHECK(units.low == std::vector<std::uint64_t>{0x1000});
  CHECK(units.high == std::vector<std::uint64_t>{0x1030});
}

TEST_CASE("sections in the compressed form of older tools are read, unless they are damaged") {
  const auto unit = make_unit();
  llvm::SmallVector<std::uint8_t> packed;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(unit), packed);
  const std::string size(7, '\0'), bytes(packed.begin(), packed.end());
  const auto read = [&](const std::string& contents) {
    return read_units(make_file(
        {{".zdebug_info", 1, 0, 0, contents}, {".debug_abbrev", 1, 0, 0, abbreviations}}));
  };
  const auto whole = "ZLIB" + size + static_cast<char>(unit.size()) + bytes;
  CHECK(read(whole).name == std::vector<std::string>{"a.c"});
  CHECK(read(whole).high == std::vector<std::uint64_t>{0x1030});
  for (std::size_t end = 0; end < whole.size(); ++end)
    CHECK(read(whole.substr(0, end)).low.empty());
  CHECK(read("ZLIB" + std::string(8, '\x7f') + bytes).name.empty());
  CHECK(read("ZSTD" + whole.substr(4)).name.empty());
}

TEST_CASE("a file without debug information, or with damage, has no units") {
  CHECK(read_units(make_file({})).name.empty());
  const auto unit = make_unit();
  for (std::size_t size = 0; size < unit.size(); ++size) {
    const auto units = read_units(make_file({{".debug_info", 1, 0, 0, unit.substr(0, size)},
                                             {".debug_abbrev", 1, 0, 0, abbreviations}}));
    CHECK(units.low.empty());
  }
  // The flag of compressed sections, without a compression header.
  const auto packed = make_file({{".debug_info", 1, 0x800, 0, unit}});
  CHECK(read_units(packed).name.empty());
  CHECK_THROWS_AS(read_units("no file"), BadFile);
}

}  // namespace compiler_gym::elf
