// A buffered stream into a string. LLVM's own is unbuffered and makes a virtual call for every
// comma, which takes half again as long for printing a module.
#pragma once

#include <string>

#include "llvm/Support/raw_ostream.h"

namespace compiler_gym::llvm {

class TextStream final : public ::llvm::raw_ostream {
 public:
  explicit TextStream(std::string& text) : text_(text) { SetBufferSize(1 << 15); }
  ~TextStream() override { flush(); }

 private:
  void write_impl(const char* data, std::size_t size) override { text_.append(data, size); }
  std::uint64_t current_pos() const override { return text_.size(); }

  std::string& text_;
};

}  // namespace compiler_gym::llvm
