#include "compiler_gym/llvm/pass_record.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/StructuralHash.h"

namespace compiler_gym::llvm {
namespace {

const char* kind_of(int kind) {
  switch (kind) {
    case ::llvm::DK_OptimizationRemark: return "passed";
    case ::llvm::DK_OptimizationRemarkMissed: return "missed";
    default: return "analysis";
  }
}

// Collects remarks, and forwards everything else to the previous handler.
class Collecting : public ::llvm::DiagnosticHandler {
 public:
  Collecting(std::unique_ptr<::llvm::DiagnosticHandler> rest, std::vector<Remark>& remarks)
      : rest(std::move(rest)), remarks_(remarks) {}

  bool handleDiagnostics(const ::llvm::DiagnosticInfo& diagnostic) override {
    const auto* remark = ::llvm::dyn_cast<::llvm::DiagnosticInfoOptimizationBase>(&diagnostic);
    if (!remark) return rest->handleDiagnostics(diagnostic);
    remarks_.push_back({kind_of(remark->getKind()), remark->getPassName().str(),
                        remark->getRemarkName().str(), remark->getFunction().getName().str(),
                        remark->getMsg()});
    return true;
  }

  bool isAnalysisRemarkEnabled(::llvm::StringRef) const override { return true; }
  bool isMissedOptRemarkEnabled(::llvm::StringRef) const override { return true; }
  bool isPassedOptRemarkEnabled(::llvm::StringRef) const override { return true; }
  bool isAnyRemarkEnabled() const override { return true; }

  std::unique_ptr<::llvm::DiagnosticHandler> rest;

 private:
  std::vector<Remark>& remarks_;
};

InstCount counts_of(const ::llvm::Function& function) {
  InstCount counts{};
  counts[1] = static_cast<std::int64_t>(function.size());
  for (const auto& block : function) {
    for (const auto& instruction : block) {
      ++counts[0];
      ++counts[inst_count_place(instruction.getOpcode())];
    }
  }
  return counts;
}

void add_difference(const InstCount& before, const InstCount& after, PassRecord& record) {
  for (std::size_t i = 0; i < inst_count_size; ++i) {
    const auto gained = after[i] - before[i];
    (gained > 0 ? record.added : record.removed)[i] += std::abs(gained);
  }
}

}  // namespace

std::vector<Snapshot::Function> Snapshot::functions_of(const ::llvm::Module& module) {
  std::vector<Function> found;
  for (const auto& function : module) {
    if (function.isDeclaration()) continue;
    found.push_back({function.getName().str(),
                     ::llvm::StructuralHash(function, /*DetailedHash=*/true), counts_of(function)});
  }
  return found;
}

Snapshot::Snapshot(const ::llvm::Module& module)
    : functions_(functions_of(module)), all_functions_(static_cast<std::int64_t>(module.size())) {}

void Snapshot::compare(const ::llvm::Module& now, PassRecord& record) const {
  ::llvm::StringMap<const Function*> before;
  for (const auto& function : functions_) before[function.name] = &function;
  for (const auto& function : functions_of(now)) {
    const auto known = before.find(function.name);
    if (known == before.end()) {
      record.new_functions.push_back(function.name);
      add_difference({}, function.counts, record);
      continue;
    }
    if (known->second->hash != function.hash) record.changed_functions.push_back(function.name);
    add_difference(known->second->counts, function.counts, record);
    before.erase(known);
  }
  for (const auto& function : functions_) {
    if (!before.contains(function.name)) continue;
    record.lost_functions.push_back(function.name);
    add_difference(function.counts, {}, record);
  }
  const auto gained = static_cast<std::int64_t>(now.size()) - all_functions_;
  (gained > 0 ? record.added : record.removed)[2] += std::abs(gained);
}

RemarkCollector::RemarkCollector(::llvm::LLVMContext& context, std::vector<Remark>& remarks)
    : context_(context) {
  context.setDiagnosticHandler(
      std::make_unique<Collecting>(context.getDiagnosticHandler(), remarks));
}

RemarkCollector::~RemarkCollector() {
  const auto ours = context_.getDiagnosticHandler();
  context_.setDiagnosticHandler(std::move(static_cast<Collecting*>(ours.get())->rest));
}

}  // namespace compiler_gym::llvm
