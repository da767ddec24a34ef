// The results of an analysis from one run of passes to the next, for functions that did not change.
//
// A manager never sees them before it asks the analysis to run: passes that use a result only if
// one exists behave as if all were dropped. The analysis must depend on the function's code and
// attributes alone.
#pragma once

#include <optional>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "touched_functions.h"

namespace compiler_gym::llvm {

template <class Analysis>
class KeptResults {
 public:
  // It has the identity of `Analysis`, to whose results LLVM casts its own: their layout is equal.
  struct Reusing : Analysis {
    Reusing(KeptResults& results, Analysis analysis)
        : Analysis(std::move(analysis)), kept(&results) {}

    typename Analysis::Result run(::llvm::Function& function,
                                  ::llvm::FunctionAnalysisManager& analyses) {
      auto found = kept->take(function);
      return found ? std::move(*found) : Analysis::run(function, analyses);
    }

    KeptResults* kept;
  };

  void register_in(::llvm::FunctionAnalysisManager& analyses, Analysis analysis = {}) {
    analyses.registerPass([&] { return Reusing(*this, std::move(analysis)); });
  }

  void keep(::llvm::Module& module, ::llvm::FunctionAnalysisManager& analyses,
            const TouchedFunctions& touched) {
    if (touched.all) return results_.clear();
    for (const auto* function : touched.some) results_.erase(function);
    for (auto& function : module) {
      auto* result = analyses.getCachedResult<Analysis>(function);
      if (!result || touched.contains(function)) continue;
      results_.try_emplace(&function, function.getBlockNumberEpoch(), std::move(*result));
    }
  }

  void clear() { results_.clear(); }

 private:
  // Some results refer to blocks by their numbers.
  std::optional<typename Analysis::Result> take(const ::llvm::Function& function) {
    std::optional<typename Analysis::Result> found;
    const auto at = results_.find(&function);
    if (at == results_.end()) return found;
    if (at->second.first == function.getBlockNumberEpoch()) {
      found.emplace(std::move(at->second.second));
    }
    results_.erase(at);
    return found;
  }

  ::llvm::DenseMap<const ::llvm::Function*, std::pair<unsigned, typename Analysis::Result>>
      results_;
};

}  // namespace compiler_gym::llvm
