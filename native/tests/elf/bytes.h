// Bytes of small ELF files, built field by field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::tests {

class Bytes {
 public:
  template <class Number>
  Bytes& add(Number number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Bytes& add_text(std::string_view more) {
    text.append(more);
    return *this;
  }

  std::string text;
};

struct Part {
  std::string name;
  std::uint32_t kind = 1;
  std::uint64_t flags = 2, address = 0;
  std::string data;
  std::uint32_t link = 0, info = 0;
};

// A shared object for x86-64 with the sections `parts`, and section names after them.
inline std::string make_file(std::vector<Part> parts) {
  std::string names(1, '\0');
  parts.push_back({".shstrtab", 3, 0, 0, ""});
  Bytes data, headers;
  for (int field = 0; field < 8; ++field) headers.add<std::uint64_t>(0);
  for (auto& part : parts) {
    const auto name = static_cast<std::uint32_t>(names.size());
    names += part.name + '\0';
    if (part.name == ".shstrtab") part.data = names;
    const std::uint64_t entry = part.kind == 2 || part.kind == 4 ? 24 : part.kind == 19 ? 8 : 0;
    headers.add(name).add(part.kind).add(part.flags).add(part.address);
    headers.add<std::uint64_t>(64 + data.text.size()).add<std::uint64_t>(part.data.size());
    headers.add(part.link).add(part.info).add<std::uint64_t>(8).add(entry);
    data.add_text(part.data);
    data.text.resize((data.text.size() + 7) / 8 * 8);
  }
  Bytes file;
  file.add_text(std::string_view("\x7f"
                                 "ELF\2\1\1",
                                 7))
      .text.resize(16);
  file.add<std::uint16_t>(3).add<std::uint16_t>(62).add<std::uint32_t>(1);
  file.add<std::uint64_t>(0x1234).add<std::uint64_t>(0);
  file.add<std::uint64_t>(64 + data.text.size()).add<std::uint32_t>(0);
  file.add<std::uint16_t>(64).add<std::uint16_t>(56).add<std::uint16_t>(0);
  file.add<std::uint16_t>(64).add<std::uint16_t>(parts.size() + 1).add<std::uint16_t>(parts.size());
  return file.text + data.text + headers.text;
}

}  // namespace compiler_gym::tests
