// Memory with an owner of any kind: a frame can be read directly into an object of the interpreter
// and need not be copied there.
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
  // `owner` keeps the memory at `data` alive; the destructor passes it to `release`.
  Bytes(char* data, std::size_t size, void* owner, Release release)
      : data_(data), size_(size), owner_(owner, release) {}

  bool is_valid() const { return owner_ != nullptr; }
  char* data() const { return data_; }
  std::string_view view() const {
    return is_valid() ? std::string_view(data_, size_) : std::string_view();
  }

  // Give up ownership and leave this object empty.
  void* release() { return owner_.release(); }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<void, Release> owner_{nullptr, [](void*) {}};
};

}  // namespace compiler_gym::service
