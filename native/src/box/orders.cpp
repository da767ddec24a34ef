#include "orders.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace compiler_gym::box {

namespace {

[[noreturn]] void refuse(const char* word) {
  std::fprintf(stderr, "box: not understood: %s\n", word);
  std::exit(2);
}

Tier tier_of(const char* name) {
  if (!std::strcmp(name, "none")) return Tier::none;
  if (!std::strcmp(name, "limits")) return Tier::limits;
  if (!std::strcmp(name, "namespaces")) return Tier::namespaces;
  if (!std::strcmp(name, "inside")) return Tier::inside;
  refuse(name);
}

const char* value_of(const char* word, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(word, name, length) ? nullptr : word + length;
}

bool read_number(Orders& orders, const char* word) {
  if (const char* v = value_of(word, "--report=")) return orders.report = std::atoi(v), true;
  if (const char* v = value_of(word, "--inputs=")) return orders.inputs = std::atoi(v), true;
  if (const char* v = value_of(word, "--outputs=")) return orders.outputs = std::atoi(v), true;
  if (const char* v = value_of(word, "--group=")) return orders.group = std::atoi(v), true;
  if (const char* v = value_of(word, "--parent=")) return orders.parent = std::atoi(v), true;
  if (const char* v = value_of(word, "--seconds=")) return orders.seconds = std::atof(v), true;
  if (const char* v = value_of(word, "--cpu=")) return orders.cpu_seconds = std::atol(v), true;
  if (const char* v = value_of(word, "--file=")) return orders.file_bytes = std::atoll(v), true;
  if (const char* v = value_of(word, "--scratch="))
    return orders.scratch_bytes = std::atoll(v), true;
  if (const char* v = value_of(word, "--memory="))
    return orders.process_bytes = std::atoll(v), true;
  if (const char* v = value_of(word, "--tree=")) return orders.tree_bytes = std::atoll(v), true;
  if (const char* v = value_of(word, "--files=")) return orders.open_files = std::atol(v), true;
  if (const char* v = value_of(word, "--processes=")) return orders.processes = std::atol(v), true;
  return false;
}

bool read_word(Orders& orders, const char* word) {
  if (const char* v = value_of(word, "--tier=")) return orders.tier = tier_of(v), true;
  if (const char* v = value_of(word, "--work=")) return orders.work = orders.folder = v, true;
  if (const char* v = value_of(word, "--directory=")) return orders.directory = v, true;
  if (const char* v = value_of(word, "--folder=")) return orders.folder = v, true;
  if (const char* v = value_of(word, "--system=")) return orders.system.add(v);
  if (const char* v = value_of(word, "--device=")) return orders.devices.add(v);
  if (const char* v = value_of(word, "--show=")) return orders.shown.add(v);
  if (const char* v = value_of(word, "--collect=")) return orders.collected.add(v);
  if (!std::strcmp(word, "--counters")) return orders.may_count = true;
  if (!std::strcmp(word, "--keep-user")) return orders.keeps_user = true;
  return false;
}

}  // namespace

Orders read_orders(int count, char** words) {
  Orders orders;
  for (int i = 1; i < count; ++i) {
    if (!std::strcmp(words[i], "--") && i + 1 < count) {
      orders.command = words + i + 1;
      return orders;
    }
    if (!read_number(orders, words[i]) && !read_word(orders, words[i])) refuse(words[i]);
  }
  refuse("a box without a command");
}

}  // namespace compiler_gym::box
