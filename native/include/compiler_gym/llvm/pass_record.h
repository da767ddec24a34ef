// The effects of a pass: instructions added and removed, functions changed, remarks.
#pragma once

#include <string>
#include <vector>

#include "compiler_gym/llvm/features.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace compiler_gym::llvm {

// One optimisation remark, as `opt -pass-remarks` would print it.
struct Remark {
  std::string kind;  // passed, missed or analysis
  std::string pass;
  std::string name;
  std::string function;
  std::string message;
};

struct PassRecord {
  bool changed = false;
  // Counted in the order of inst_count(), which includes blocks and functions. If one function
  // gains what another loses, both sides count it.
  InstCount added{};
  InstCount removed{};
  std::vector<std::string> changed_functions;  // LLVM's structural hash differs
  std::vector<std::string> new_functions;      // functions that had no body before
  std::vector<std::string> lost_functions;
  std::vector<Remark> remarks;
};

// The state of a module before a pass, for a later comparison.
class Snapshot {
 public:
  explicit Snapshot(const ::llvm::Module& module);

  // Fill in the changes since then; the caller sets `changed` and `remarks`.
  void compare(const ::llvm::Module& now, PassRecord& record) const;

 private:
  struct Function {
    std::string name;
    std::uint64_t hash;
    InstCount counts;
  };
  static std::vector<Function> functions_of(const ::llvm::Module& module);

  std::vector<Function> functions_;
  std::int64_t all_functions_;
};

// Collects the remarks of a context as long as it lives.
class RemarkCollector {
 public:
  RemarkCollector(::llvm::LLVMContext& context, std::vector<Remark>& remarks);
  ~RemarkCollector();
  RemarkCollector(const RemarkCollector&) = delete;
  RemarkCollector& operator=(const RemarkCollector&) = delete;

 private:
  ::llvm::LLVMContext& context_;
};

}  // namespace compiler_gym::llvm
