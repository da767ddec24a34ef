// SPDX-License-Identifier: MIT
// A pass of one's own: a multiplication by a power of two becomes a shift.
//
// Build it, with the package llvm-22-dev installed:
//   g++ -std=c++17 -O2 -fPIC -shared -fno-rtti -isystem /usr/lib/llvm-22/include
//     mul_to_shift.cpp -o libMulToShift.so
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

namespace {

bool becomes_shift(llvm::Instruction& instruction) {
  llvm::Value* value = nullptr;
  const llvm::APInt* factor = nullptr;
  using namespace llvm::PatternMatch;
  if (!match(&instruction, m_Mul(m_Value(value), m_Power2(factor)))) return false;
  llvm::IRBuilder<> builder(&instruction);
  instruction.replaceAllUsesWith(builder.CreateShl(value, factor->logBase2()));
  instruction.eraseFromParent();
  return true;
}

struct MulToShift : llvm::PassInfoMixin<MulToShift> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    for (auto& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      changed |= becomes_shift(instruction);
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

bool add_pass(llvm::StringRef name, llvm::FunctionPassManager& passes,
              llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
  if (name != "mul-to-shift") return false;
  passes.addPass(MulToShift());
  return true;
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "MulToShift", "1.0", [](llvm::PassBuilder& builder) {
            builder.registerPipelineParsingCallback(add_pass);
          }};
}
