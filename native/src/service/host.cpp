#include "compiler_gym/service/host.h"

#include <new>

namespace compiler_gym::service {

void Host::check_interrupts() {}

void* Host::unlock() { return nullptr; }

void Host::lock(void*) {}

Bytes Host::make_bytes(std::size_t size) {
  char* const data = new (std::nothrow) char[size];
  if (data == nullptr) return {};
  return {data, size, data, [](void* owner) { delete[] static_cast<char*>(owner); }};
}

}  // namespace compiler_gym::service
