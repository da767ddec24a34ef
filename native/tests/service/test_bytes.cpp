#include "compiler_gym/service/bytes.h"

#include <doctest/doctest.h>

using compiler_gym::service::Bytes;

namespace {

void count(void* owner) { ++*static_cast<int*>(owner); }

}  // namespace

TEST_CASE("the owner is released once, wherever the bytes went") {
  int released = 0;
  char data[] = "abc";
  {
    Bytes first(data, 3, &released, count);
    Bytes second = std::move(first);
    CHECK(second.view() == "abc");
    CHECK(second.data() == data);
    CHECK(released == 0);
  }
  CHECK(released == 1);
}

TEST_CASE("nothing is left of bytes whose owner was handed over") {
  int released = 0;
  char data[] = "abc";
  Bytes bytes(data, 3, &released, count);
  CHECK(bytes.release() == &released);
  CHECK(!bytes.is_valid());
  CHECK(bytes.view().empty());
  CHECK(Bytes().view().empty());
  bytes = {};
  CHECK(released == 0);
}
