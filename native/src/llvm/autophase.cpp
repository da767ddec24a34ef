#include "compiler_gym/llvm/features.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {

using ::llvm::cast;
using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

using Op = ::llvm::Instruction;

enum Feature : std::size_t {
  BBNumArgsHi,
  BBNumArgsLo,
  onePred,
  onePredOneSuc,
  onePredTwoSuc,
  oneSuccessor,
  twoPred,
  twoPredOneSuc,
  twoEach,
  twoSuccessor,
  morePreds,
  BB03Phi,
  BBHiPhi,
  BBNoPhi,
  BeginPhi,
  BranchCount,
  returnInt,
  CriticalCount,
  NumEdges,
  const32Bit,
  const64Bit,
  numConstZeroes,
  numConstOnes,
  UncondBranches,
  binaryConstArg,
  NumAShrInst,
  NumAddInst,
  NumAllocaInst,
  NumAndInst,
  BlockMid,
  BlockLow,
  NumBitCastInst,
  NumBrInst,
  NumCallInst,
  NumGetElementPtrInst,
  NumICmpInst,
  NumLShrInst,
  NumLoadInst,
  NumMulInst,
  NumOrInst,
  NumPHIInst,
  NumRetInst,
  NumSExtInst,
  NumSelectInst,
  NumShlInst,
  NumStoreInst,
  NumSubInst,
  NumTruncInst,
  NumXorInst,
  NumZExtInst,
  TotalBlocks,
  TotalInsts,
  TotalMemInst,
  TotalFuncs,
  ArgsPhi,
  testUnary,
};
static_assert(testUnary + 1 == autophase_size);

constexpr const char* autophase_columns[autophase_size] = {
    "BBNumArgsHi",  "BBNumArgsLo",    "onePred",       "onePredOneSuc",  "onePredTwoSuc",
    "oneSuccessor", "twoPred",        "twoPredOneSuc", "twoEach",        "twoSuccessor",
    "morePreds",    "BB03Phi",        "BBHiPhi",       "BBNoPhi",        "BeginPhi",
    "BranchCount",  "returnInt",      "CriticalCount", "NumEdges",       "const32Bit",
    "const64Bit",   "numConstZeroes", "numConstOnes",  "UncondBranches", "binaryConstArg",
    "NumAShrInst",  "NumAddInst",     "NumAllocaInst", "NumAndInst",     "BlockMid",
    "BlockLow",     "NumBitCastInst", "NumBrInst",     "NumCallInst",    "NumGetElementPtrInst",
    "NumICmpInst",  "NumLShrInst",    "NumLoadInst",   "NumMulInst",     "NumOrInst",
    "NumPHIInst",   "NumRetInst",     "NumSExtInst",   "NumSelectInst",  "NumShlInst",
    "NumStoreInst", "NumSubInst",     "NumTruncInst",  "NumXorInst",     "NumZExtInst",
    "TotalBlocks",  "TotalInsts",     "TotalMemInst",  "TotalFuncs",     "ArgsPhi",
    "testUnary"};

// Opcodes end at Freeze; none is 0.
constexpr std::size_t all_opcodes = Op::OtherOpsEnd;
using OpcodeCounts = std::array<std::int64_t, all_opcodes>;

struct Opcode {
  unsigned opcode;
  Feature feature;
};

constexpr Opcode counted_opcodes[] = {
    {Op::AShr, NumAShrInst},       {Op::Add, NumAddInst},
    {Op::Alloca, NumAllocaInst},   {Op::And, NumAndInst},
    {Op::BitCast, NumBitCastInst}, {Op::Br, NumBrInst},
    {Op::Call, NumCallInst},       {Op::GetElementPtr, NumGetElementPtrInst},
    {Op::ICmp, NumICmpInst},       {Op::LShr, NumLShrInst},
    {Op::Load, NumLoadInst},       {Op::Mul, NumMulInst},
    {Op::Or, NumOrInst},           {Op::PHI, NumPHIInst},
    {Op::Ret, NumRetInst},         {Op::SExt, NumSExtInst},
    {Op::Select, NumSelectInst},   {Op::Shl, NumShlInst},
    {Op::Store, NumStoreInst},     {Op::Sub, NumSubInst},
    {Op::Trunc, NumTruncInst},     {Op::Xor, NumXorInst},
    {Op::ZExt, NumZExtInst},       {Op::Br, BranchCount},
};

constexpr unsigned memory_opcodes[] = {Op::GetElementPtr, Op::Load,   Op::Store,
                                       Op::Call,          Op::Invoke, Op::Alloca};

// The opcodes that UnaryInstruction covers.
constexpr bool is_unary(unsigned opcode) {
  return opcode == Op::FNeg || (opcode >= Op::CastOpsBegin && opcode < Op::CastOpsEnd) ||
         opcode == Op::Alloca || opcode == Op::Load || opcode == Op::VAArg ||
         opcode == Op::ExtractValue || opcode == Op::Freeze;
}

// Counts references in instructions. A processor mispredicts whether an operand is a number, at ten
// times the cost of counting it: numbers are set aside without a branch.
class ReferenceCounter {
 public:
  explicit ReferenceCounter(Autophase& out) : out_(out) {}

  void add(const ::llvm::Instruction& instruction, unsigned opcode) {
    if (used_ + instruction.getNumOperands() > numbers_.size()) make_room(instruction);
    auto used = used_;
    auto lowest = ~0u;
    for (const auto& operand : instruction.operands()) {
      const auto kind = operand->getValueID();
      numbers_[used] = operand.get();
      used += kind == ::llvm::Value::ConstantIntVal;
      lowest = std::min(lowest, kind);
    }
    used_ = used;
    const bool is_binary = opcode >= Op::BinaryOpsBegin && opcode < Op::BinaryOpsEnd;
    out_[binaryConstArg] += is_binary & (lowest <= ::llvm::Value::ConstantLastVal);
    if (opcode == Op::Call) {
      const auto* callee = cast<::llvm::CallInst>(instruction).getCalledFunction();
      out_[returnInt] += callee && callee->getReturnType()->isIntegerTy();
    } else if (opcode == Op::Switch) {
      // Case values were operands when the features were defined.
      for (const auto& one : cast<::llvm::SwitchInst>(instruction).cases()) {
        count(*one.getCaseValue());
      }
    }
  }

  // Count the operands that were set aside.
  void finish() {
    for (std::size_t i = 0; i < used_; ++i) count(*cast<::llvm::ConstantInt>(numbers_[i]));
    used_ = 0;
  }

 private:
  void make_room(const ::llvm::Instruction& instruction) {
    finish();
    numbers_.resize(std::max<std::size_t>(512, instruction.getNumOperands()));
  }

  void count(const ::llvm::ConstantInt& number) {
    if (!number.getType()->isIntegerTy()) return;
    out_[const32Bit] += number.getBitWidth() == 32;
    out_[const64Bit] += number.getBitWidth() == 64;
    out_[numConstOnes] += number.isOne();
    out_[numConstZeroes] += number.isZero();
  }

  Autophase& out_;
  std::vector<const ::llvm::Value*> numbers_;
  std::size_t used_ = 0;
};

// Walks a module once; the counts that depend only on opcodes are added at the end.
class AutophaseCounter {
 public:
  void add(const ::llvm::Function& function) {
    ++out_[TotalFuncs];
    ends_.clear();
    targets_.clear();
    predecessors_.assign(function.getMaxBlockNumber(), 0);
    for (const auto& block : function) add(block);
    add_edges();
  }

  Autophase result() {
    references_.finish();
    for (const auto& [opcode, feature] : counted_opcodes) out_[feature] = opcodes_[opcode];
    for (const unsigned opcode : memory_opcodes) out_[TotalMemInst] += opcodes_[opcode];
    for (unsigned opcode = 0; opcode < all_opcodes; ++opcode) {
      out_[TotalInsts] += opcodes_[opcode];
      if (is_unary(opcode)) out_[testUnary] += opcodes_[opcode];
    }
    return out_;
  }

 private:
  // The successors of a block end at `targets`.
  struct End {
    unsigned block;
    std::size_t targets;
  };

  void add(const ::llvm::BasicBlock& block) {
    ++out_[TotalBlocks];
    std::size_t size = 0, phis = 0, phi_arguments = 0;
    const ::llvm::Instruction* last = nullptr;
    for (const auto& instruction : block) {
      last = &instruction;
      ++size;
      // Instructions usually lie in memory in their order; otherwise the prefetch does no harm.
      const auto* ahead = reinterpret_cast<const char*>(&instruction) + 1024;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + 64);
      const auto opcode = instruction.getOpcode();
      ++opcodes_[opcode];
      references_.add(instruction, opcode);
      if (opcode == Op::PHI) {
        ++phis;
        phi_arguments += instruction.getNumOperands();
      }
    }
    out_[BeginPhi] += size > 0 && isa<::llvm::PHINode>(block.front());
    out_[ArgsPhi] += phi_arguments;
    ++out_[phis == 0 ? BBNoPhi : phis <= 3 ? BB03Phi : BBHiPhi];
    if (phi_arguments > 0) ++out_[phi_arguments > 5 ? BBNumArgsHi : BBNumArgsLo];
    if (size <= 500) ++out_[size < 15 ? BlockLow : BlockMid];
    // IR that does not verify may lack a terminator.
    if (last && last->isTerminator()) note_successors(block, *last);
  }

  void note_successors(const ::llvm::BasicBlock& block, const ::llvm::Instruction& last) {
    const auto note = [this](const ::llvm::BasicBlock& next) {
      targets_.push_back(next.getNumber());
      ++predecessors_[next.getNumber()];
    };
    if (const auto* branch = dyn_cast<::llvm::BranchInst>(&last)) {
      out_[UncondBranches] += branch->isUnconditional();
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) note(*branch->getSuccessor(i));
    } else {
      for (const auto* next : successors(&last)) note(*next);
    }
    ends_.push_back({block.getNumber(), targets_.size()});
  }

  void add_edges() {
    std::size_t start = 0;
    for (const auto& [block, end] : ends_) {
      const auto after = end - start;
      const auto before = predecessors_[block];
      out_[NumEdges] += after;
      if (after > 1) {
        for (auto i = start; i < end; ++i) out_[CriticalCount] += predecessors_[targets_[i]] > 1;
      }
      out_[oneSuccessor] += after == 1;
      out_[twoSuccessor] += after == 2;
      out_[onePred] += before == 1;
      out_[twoPred] += before == 2;
      out_[morePreds] += before > 2;
      out_[onePredOneSuc] += before == 1 && after == 1;
      out_[onePredTwoSuc] += before == 1 && after == 2;
      out_[twoPredOneSuc] += before == 2 && after == 1;
      out_[twoEach] += before == 2 && after == 2;
      start = end;
    }
  }

  Autophase out_{};
  OpcodeCounts opcodes_{};
  std::vector<End> ends_;
  std::vector<unsigned> targets_;
  std::vector<unsigned> predecessors_;
  ReferenceCounter references_{out_};
};

}  // namespace

Autophase autophase(const ::llvm::Module& module) {
  AutophaseCounter counter;
  for (const auto& function : module) counter.add(function);
  return counter.result();
}

std::vector<std::string> autophase_names() {
  return {std::begin(autophase_columns), std::end(autophase_columns)};
}

}  // namespace compiler_gym::llvm
