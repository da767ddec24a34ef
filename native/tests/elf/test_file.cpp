#include <doctest/doctest.h>

#include "bytes.h"
#include "compiler_gym/elf/file.h"

namespace compiler_gym::elf {

using namespace compiler_gym::tests;

TEST_CASE("headers, sections and symbols are read") {
  Bytes symbols;
  symbols.add<std::uint64_t>(0).add<std::uint64_t>(0).add<std::uint64_t>(0);
  symbols.add<std::uint32_t>(1).add<std::uint8_t>(0x12).add<std::uint8_t>(0);
  symbols.add<std::uint16_t>(1).add<std::uint64_t>(0x1000).add<std::uint64_t>(4);
  const auto data = make_file({{".text", 1, 6, 0x1000, "code"},
                               {".symtab", 2, 0, 0, symbols.text, 3},
                               {".strtab", 3, 0, 0, std::string("\0main\0", 6)}});
  const auto file = read_file(data);
  CHECK(file.bits == 64);
  CHECK(file.little == 1);
  CHECK(file.machine == 62);
  CHECK(file.entry == 0x1234);
  CHECK(file.sections.name ==
        std::vector<std::string>{"", ".text", ".symtab", ".strtab", ".shstrtab"});
  CHECK(file.sections.size[1] == 4);
  CHECK(file.sections_size == 5 * 64);
  CHECK(file.symbols.name == std::vector<std::string>{"main"});
  CHECK(file.symbols.value[0] == 0x1000);
  CHECK(file.symbols.section[0] == 1);
  CHECK(file.symbols.kind[0] == 2);
  CHECK(file.symbols.dynamic[0] == 0);
}

TEST_CASE("relative relocations are read from both formats") {
  Bytes records, packed;
  records.add<std::uint64_t>(0x2000).add<std::uint64_t>(8).add<std::uint64_t>(0x1000);
  records.add<std::uint64_t>(0x2008).add<std::uint64_t>(6).add<std::uint64_t>(0);
  packed.add<std::uint64_t>(0x3000).add<std::uint64_t>(0b101);
  const auto file = read_file(
      make_file({{".rela.dyn", 4, 2, 0, records.text}, {".relr.dyn", 19, 2, 0, packed.text}}));
  CHECK(file.relocations.place == std::vector<std::uint64_t>{0x2000});
  CHECK(file.relocations.target == std::vector<std::uint64_t>{0x1000});
  CHECK(file.relocations.packed == std::vector<std::uint64_t>{0x3000, 0x3010});
}

TEST_CASE("damage is reported wherever it is") {
  const auto data = make_file({{".text", 1, 6, 0x1000, "code"}});
  for (std::size_t size = 0; size < data.size(); ++size) {
    CHECK_THROWS_AS(read_file(std::string_view(data).substr(0, size)), BadFile);
  }
  auto other = data;
  other[4] = 9;
  CHECK_THROWS_WITH_AS(read_file(other), "it is of neither 32 nor 64 bits", BadFile);
  other[5] = 9;
  CHECK_THROWS_WITH_AS(read_file(other), "the byte order is unknown", BadFile);
}

}  // namespace compiler_gym::elf
