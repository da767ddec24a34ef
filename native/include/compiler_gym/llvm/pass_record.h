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
  // In the order of inst_count(), so blocks and functions are there too. What one
  // function gains and another loses counts on both sides.
  InstCount added{};
  InstCount removed{};
  std::vector<std::string> changed_functions;  // LLVM's structural hash differs
  std::vector<std::string> new_functions;      // bodies there were not before
  std::vector<std::string> lost_functions;
  std::vector<Remark> remarks;
};

// What a module looks like before a pass, to compare with later.
class Snapshot {
 public:
  explicit Snapshot(const ::llvm::Module& module);

  // Fill in what changed since; `changed` and `remarks` are the caller's.
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
