#include "simulator.h"

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/machine.h"
#include "compiler_gym/llvm/retarget.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MCA/Context.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Pipeline.h"
#include "llvm/MCA/SourceMgr.h"
#include "target.h"

namespace compiler_gym::llvm {

namespace mca = ::llvm::mca;

namespace {

// llvm-mca's default for `-call-latency`.
constexpr unsigned call_latency = 100;

// llvm-mca's library prints a warning at the first call and return that it meets. They are hidden
// from it here; their costs come from their descriptions.
class QuietAnalysis : public ::llvm::MCInstrAnalysis {
 public:
  QuietAnalysis(const ::llvm::MCInstrInfo* info, std::unique_ptr<MCInstrAnalysis> real)
      : MCInstrAnalysis(info), real_(std::move(real)) {}

  bool isCall(const ::llvm::MCInst&) const override { return false; }
  bool isReturn(const ::llvm::MCInst&) const override { return false; }
  bool clearsSuperRegisters(const ::llvm::MCRegisterInfo& registers, const ::llvm::MCInst& inst,
                            ::llvm::APInt& writes) const override {
    return real_->clearsSuperRegisters(registers, inst, writes);
  }
  bool isZeroIdiom(const ::llvm::MCInst& inst, ::llvm::APInt& mask,
                   unsigned processor) const override {
    return real_->isZeroIdiom(inst, mask, processor);
  }
  bool isDependencyBreaking(const ::llvm::MCInst& inst, ::llvm::APInt& mask,
                            unsigned processor) const override {
    return real_->isDependencyBreaking(inst, mask, processor);
  }
  bool isOptimizableRegisterMove(const ::llvm::MCInst& inst, unsigned processor) const override {
    return real_->isOptimizableRegisterMove(inst, processor);
  }

 private:
  std::unique_ptr<MCInstrAnalysis> real_;
};

}  // namespace

Simulator::Simulator(const ::llvm::Triple& triple) {
  const auto processor = find_simulated_processor(triple);
  prepare_tools(triple);
  std::string complaint;
  target_ = ::llvm::TargetRegistry::lookupTarget(triple, complaint);
  if (!target_) throw UnsupportedError(complaint);
  registers_.reset(target_->createMCRegInfo(triple));
  assembly_.reset(target_->createMCAsmInfo(*registers_, triple, ::llvm::MCTargetOptions()));
  instructions_.reset(target_->createMCInstrInfo());
  processor_.reset(target_->createMCSubtargetInfo(triple, processor, ""));
  context_ = std::make_unique<::llvm::MCContext>(triple, assembly_.get(), registers_.get(),
                                                 processor_.get());
  disassembler_.reset(target_->createMCDisassembler(*processor_, *context_));
  analysis_ = std::make_unique<QuietAnalysis>(
      instructions_.get(), std::unique_ptr<::llvm::MCInstrAnalysis>(
                               target_->createMCInstrAnalysis(instructions_.get())));
}

std::size_t Simulator::count(::llvm::ArrayRef<std::uint8_t> code) {
  std::size_t found = 0;
  ::llvm::MCInst instruction;
  for (std::uint64_t at = 0, size = 0; at < code.size(); at += std::max<std::uint64_t>(size, 1)) {
    instruction.clear();
    disassembler_->getInstruction(instruction, size, code.slice(at), at, ::llvm::nulls());
    ++found;
  }
  return found;
}

std::vector<::llvm::MCInst> Simulator::decode(::llvm::ArrayRef<std::uint8_t> code) {
  std::vector<::llvm::MCInst> found;
  for (std::uint64_t at = 0, size = 0; at < code.size(); at += std::max<std::uint64_t>(size, 1)) {
    ::llvm::MCInst instruction;
    if (disassembler_->getInstruction(instruction, size, code.slice(at), at, ::llvm::nulls()) ==
        ::llvm::MCDisassembler::Success) {
      found.push_back(std::move(instruction));
    }
  }
  return found;
}

double Simulator::width() const { return processor_->getSchedModel().IssueWidth; }

double Simulator::cycles(::llvm::ArrayRef<std::uint8_t> code) {
  const auto block = decode(code);
  const std::unique_ptr<mca::InstrumentManager> made(
      target_->createInstrumentManager(*processor_, *instructions_));
  mca::InstrumentManager plain(*processor_, *instructions_);
  mca::InstrBuilder builder(*processor_, *instructions_, *registers_, analysis_.get(),
                            made ? *made : plain, call_latency);
  const std::unique_ptr<mca::InstrPostProcess> post(
      target_->createInstrPostProcess(*processor_, *instructions_));
  std::vector<std::unique_ptr<mca::Instruction>> sequence;
  for (const auto& instruction : block) {
    auto built = builder.createInstruction(instruction, {});
    if (!built) {
      // The processor's model does not know it: it costs its slot in the queue.
      ::llvm::consumeError(built.takeError());
      continue;
    }
    if (post) post->postProcessInstruction(**built, instruction);
    sequence.push_back(std::move(*built));
  }
  const auto unknown = static_cast<double>(block.size() - sequence.size()) / width();
  if (sequence.empty()) return unknown;
  mca::CircularSourceMgr source(sequence, mca_iterations);
  std::unique_ptr<mca::CustomBehaviour> behaviour(
      target_->createCustomBehaviour(*processor_, source, *instructions_));
  if (!behaviour) {
    behaviour = std::make_unique<mca::CustomBehaviour>(*processor_, source, *instructions_);
  }
  mca::Context context(*registers_, *processor_);
  const mca::PipelineOptions options(0, 0, 0, 0, 0, 0, /*NoAlias=*/true);
  auto pipeline = context.createDefaultPipeline(options, source, *behaviour);
  auto total = pipeline->run();
  if (!total) throw DiagnosticError(::llvm::toString(total.takeError()));
  return unknown + static_cast<double>(*total) / mca_iterations;
}

}  // namespace compiler_gym::llvm
