// A stream into a string with a buffer between. LLVM's own has none and goes through a
// virtual call for every comma, which makes printing a module half as long again.
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
