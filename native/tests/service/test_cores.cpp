#include "compiler_gym/service/cores.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "child.h"

using namespace compiler_gym::service;
using compiler_gym::tests::Child;
using compiler_gym::tests::cores_of;

TEST_CASE("a thread's current core is the last of its cores, which are distinct") {
  auto cores = list_thread_cores();
  REQUIRE(!cores.empty());
  CHECK(static_cast<int>(cores.size()) >= cores_of(0));
  std::sort(cores.begin(), cores.end());
  CHECK(std::adjacent_find(cores.begin(), cores.end()) == cores.end());
  CHECK(std::count(cores.begin(), cores.end(), current_core()) == 1);
}

TEST_CASE("a process is bound to a core and freed again") {
  Child child;
  REQUIRE(child.pid > 0);
  CHECK(bind_process(child.pid, current_core()));
  CHECK(cores_of(child.pid) == 1);
  CHECK(free_process(child.pid));
  CHECK(cores_of(child.pid) == cores_of(0));
  child.end();
  CHECK(!bind_process(child.pid, current_core()));
  CHECK(!free_process(child.pid));
  child.pid = -1;
}
