// llvm-mca's simulation of a processor, and the disassembler it needs.
#pragma once

#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

namespace compiler_gym::llvm {

class Simulator {
 public:
  explicit Simulator(const ::llvm::Triple& triple);

  // The number of instructions; a byte that begins no instruction counts as one, as in objdump.
  std::size_t count(::llvm::ArrayRef<std::uint8_t> code);

  // Cycles of one run of a block in a loop of `mca_iterations` runs.
  double cycles(::llvm::ArrayRef<std::uint8_t> code);

  // Micro-operations that the processor can start in a cycle.
  double width() const;

 private:
  std::vector<::llvm::MCInst> decode(::llvm::ArrayRef<std::uint8_t> code);

  const ::llvm::Target* target_;
  std::unique_ptr<::llvm::MCRegisterInfo> registers_;
  std::unique_ptr<::llvm::MCAsmInfo> assembly_;
  std::unique_ptr<::llvm::MCInstrInfo> instructions_;
  std::unique_ptr<::llvm::MCSubtargetInfo> processor_;
  std::unique_ptr<::llvm::MCContext> context_;
  std::unique_ptr<::llvm::MCDisassembler> disassembler_;
  std::unique_ptr<::llvm::MCInstrAnalysis> analysis_;
};

}  // namespace compiler_gym::llvm
