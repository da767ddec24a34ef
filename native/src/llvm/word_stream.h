// Turns a stream of words into a 128-bit digest, in blocks that stay in cache.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "llvm/Support/xxhash.h"

namespace compiler_gym::llvm {

class WordStream {
 public:
  using Digest = std::array<std::uint64_t, 2>;

  void word(std::uint32_t value) {
    if (used_ == capacity) fold();
    words_[used_++] = value;
  }

  void wide(std::uint64_t value) {
    word(static_cast<std::uint32_t>(value));
    word(static_cast<std::uint32_t>(value >> 32));
  }

  void digest(const Digest& value) {
    wide(value[0]);
    wide(value[1]);
  }

  // The length goes first, so that neighbouring texts cannot run into each other.
  void text(std::string_view value) {
    wide(value.size());
    if (value.size() > 64) {
      digest(digest_of(value.data(), value.size()));
      return;
    }
    for (std::size_t at = 0; at < value.size(); at += 4) {
      std::uint32_t piece = 0;
      std::memcpy(&piece, value.data() + at, std::min<std::size_t>(4, value.size() - at));
      word(piece);
    }
  }

  // The digest of everything since the last call.
  Digest finish() {
    fold();
    const Digest result = chain_;
    chain_ = {};
    used_ = chain_words;
    return result;
  }

 private:
  static constexpr std::size_t chain_words = 4;
  static constexpr std::size_t capacity = 4096;

  static Digest digest_of(const void* data, std::size_t size) {
    const auto hash =
        ::llvm::xxh3_128bits(::llvm::ArrayRef(static_cast<const std::uint8_t*>(data), size));
    return {hash.low64, hash.high64};
  }

  void fold() {
    std::memcpy(words_.get(), chain_.data(), sizeof(chain_));
    chain_ = digest_of(words_.get(), used_ * sizeof(std::uint32_t));
    used_ = chain_words;
  }

  std::unique_ptr<std::uint32_t[]> words_{new std::uint32_t[capacity]};
  std::size_t used_ = chain_words;
  Digest chain_{};
};

}  // namespace compiler_gym::llvm
