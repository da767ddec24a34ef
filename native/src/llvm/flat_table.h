// A pointer-keyed table that is emptied in constant time, for numbering the
// values of one function or module thousands of times a second.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace compiler_gym::llvm {

class FlatTable {
 public:
  // Remove all keys and make room for `expected` keys.
  void reset(std::size_t expected) {
    const std::size_t capacity = std::bit_ceil(expected * 2 + 16);
    if (slots_.size() < capacity) slots_.assign(capacity, {});
    set_capacity(capacity);
    size_ = 0;
    // Stamp 0 marks slots that were never used, so it must not recur.
    if (++stamp_ == 0) {
      slots_.assign(slots_.size(), {});
      stamp_ = 1;
    }
  }

  // The number stored for `key`, or nullptr.
  const std::uint32_t* find(const void* key) const {
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.stamp != stamp_) return nullptr;
      if (slot.key == key) return &slot.number;
    }
  }

  // The number stored for `key`; if there is none, `number` is stored.
  std::uint32_t find_or_insert(const void* key, std::uint32_t number) {
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.stamp != stamp_) {
        slot = {key, number, stamp_};
        if (++size_ * 2 > mask_ + 1) grow();
        return number;
      }
      if (slot.key == key) return slot.number;
    }
  }

 private:
  struct Slot {
    const void* key = nullptr;
    std::uint32_t number = 0;
    std::uint32_t stamp = 0;
  };

  void set_capacity(std::size_t capacity) {
    mask_ = capacity - 1;
    shift_ = 64 - std::countr_zero(capacity);
  }

  // The order of addresses never affects a result: it only determines the slot of a key.
  std::size_t home(const void* key) const {
    return reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15u >> shift_;
  }

  void grow() {
    std::vector<Slot> old(slots_.begin(), slots_.begin() + mask_ + 1);
    const std::uint32_t live = stamp_;
    reset(mask_ + 1);
    for (const Slot& slot : old) {
      if (slot.stamp == live) find_or_insert(slot.key, slot.number);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::size_t size_ = 0;
  std::uint32_t stamp_ = 0;
};

}  // namespace compiler_gym::llvm
