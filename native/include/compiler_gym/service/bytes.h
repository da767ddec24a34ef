// Memory with an owner, whoever that is: a frame can lie in an object of the interpreter from the
// moment it is read, and need not be copied there.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace compiler_gym::service {

class Bytes {
 public:
  using Release = void (*)(void* owner);

  Bytes() = default;
  // `owner` keeps what is at `data`, and is given to `release` in the end.
  Bytes(char* data, std::size_t size, void* owner, Release release)
      : data_(data), size_(size), owner_(owner, release) {}

  bool is_valid() const { return owner_ != nullptr; }
  char* data() const { return data_; }
  std::string_view view() const {
    return is_valid() ? std::string_view(data_, size_) : std::string_view();
  }

  // Hands the owner over; nothing is left here.
  void* release() { return owner_.release(); }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<void, Release> owner_{nullptr, [](void*) {}};
};

}  // namespace compiler_gym::service
