#include "compiler_gym/jit/calls.h"

#include <doctest/doctest.h>

using namespace compiler_gym::jit;

namespace {

void count(const std::uintptr_t* buffers) { ++*reinterpret_cast<int*>(buffers[0]); }
void follow(const std::uintptr_t* buffers) {
  reinterpret_cast<std::vector<int>*>(buffers[0])->push_back(static_cast<int>(buffers[1]));
}

std::uintptr_t at(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

TEST_CASE("calls are counted, and take their turns") {
  int calls = 0;
  run({at(reinterpret_cast<void*>(&count)), {at(&calls)}});
  CHECK(calls == 1);
  std::vector<int> order;
  const auto function = at(reinterpret_cast<void*>(&follow));
  for (const auto clock : {Clock::wall, Clock::processor}) {
    order.clear();
    const auto seconds = time_alternating(
        {{function, {at(&order), 1}}, {function, {at(&order), 2}}}, 2, {2, 1}, clock);
    CHECK(order == std::vector<int>{1, 1, 2, 2, 1, 1});
    CHECK(seconds.size() == 2);
    CHECK(seconds[0].size() == 2);
    CHECK(seconds[1].size() == 2);
    for (const auto& each : seconds)
      for (double one : each) CHECK(one >= 0);
  }
}
