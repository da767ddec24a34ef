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
  BBNumArgsHi, BBNumArgsLo, onePred, onePredOneSuc, onePredTwoSuc, oneSuccessor, twoPred,
  twoPredOneSuc, twoEach, twoSuccessor, morePreds, BB03Phi, BBHiPhi, BBNoPhi, BeginPhi,
  BranchCount, returnInt, CriticalCount, NumEdges, const32Bit, const64Bit, numConstZeroes,
  numConstOnes, UncondBranches, binaryConstArg, NumAShrInst, NumAddInst, NumAllocaInst,
  NumAndInst, BlockMid, BlockLow, NumBitCastInst, NumBrInst, NumCallInst,
  NumGetElementPtrInst, NumICmpInst, NumLShrInst, NumLoadInst, NumMulInst, NumOrInst,
  NumPHIInst, NumRetInst, NumSExtInst, NumSelectInst, NumShlInst, NumStoreInst, NumSubInst,
  NumTruncInst, NumXorInst, NumZExtInst, TotalBlocks, TotalInsts, TotalMemInst, TotalFuncs,
  ArgsPhi, testUnary,
};
static_assert(testUnary + 1 == autophase_size);

constexpr const char* feature_names[autophase_size] = {
    "BBNumArgsHi", "BBNumArgsLo", "onePred", "onePredOneSuc", "onePredTwoSuc", "oneSuccessor",
    "twoPred", "twoPredOneSuc", "twoEach", "twoSuccessor", "morePreds", "BB03Phi", "BBHiPhi",
    "BBNoPhi", "BeginPhi", "BranchCount", "returnInt", "CriticalCount", "NumEdges",
    "const32Bit", "const64Bit", "numConstZeroes", "numConstOnes", "UncondBranches",
    "binaryConstArg", "NumAShrInst", "NumAddInst", "NumAllocaInst", "NumAndInst", "BlockMid",
    "BlockLow", "NumBitCastInst", "NumBrInst", "NumCallInst", "NumGetElementPtrInst",
    "NumICmpInst", "NumLShrInst", "NumLoadInst", "NumMulInst", "NumOrInst", "NumPHIInst",
    "NumRetInst", "NumSExtInst", "NumSelectInst", "NumShlInst", "NumStoreInst", "NumSubInst",
    "NumTruncInst", "NumXorInst", "NumZExtInst", "TotalBlocks", "TotalInsts", "TotalMemInst",
    "TotalFuncs", "ArgsPhi", "testUnary"};

// Opcodes end at Freeze; none is 0.
constexpr std::size_t opcodes = Op::OtherOpsEnd;
using OpcodeCounts = std::array<std::int64_t, opcodes>;

struct Opcode {
  unsigned opcode;
  Feature feature;
};

constexpr Opcode counted_opcodes[] = {
    {Op::AShr, NumAShrInst},     {Op::Add, NumAddInst},       {Op::Alloca, NumAllocaInst},
    {Op::And, NumAndInst},       {Op::BitCast, NumBitCastInst}, {Op::Br, NumBrInst},
    {Op::Call, NumCallInst},     {Op::GetElementPtr, NumGetElementPtrInst},
    {Op::ICmp, NumICmpInst},     {Op::LShr, NumLShrInst},     {Op::Load, NumLoadInst},
    {Op::Mul, NumMulInst},       {Op::Or, NumOrInst},         {Op::PHI, NumPHIInst},
    {Op::Ret, NumRetInst},       {Op::SExt, NumSExtInst},     {Op::Select, NumSelectInst},
    {Op::Shl, NumShlInst},       {Op::Store, NumStoreInst},   {Op::Sub, NumSubInst},
    {Op::Trunc, NumTruncInst},   {Op::Xor, NumXorInst},       {Op::ZExt, NumZExtInst},
    {Op::Br, BranchCount},
};

constexpr unsigned memory_opcodes[] = {Op::GetElementPtr, Op::Load,   Op::Store,
                                       Op::Call,          Op::Invoke, Op::Alloca};

class AutophaseCounter {
 public:
  void add(const ::llvm::Function& function) {
    ++out_[TotalFuncs];
    predecessors_.assign(function.getMaxBlockNumber(), 0);
    for (const auto& block : function) {
      // IR that does not verify may lack the end of a block.
      if (!block.getTerminator()) continue;
      for (const auto* next : successors(&block)) ++predecessors_[next->getNumber()];
    }
    for (const auto& block : function) add(block);
  }

  Autophase result() {
    for (const auto& [opcode, feature] : counted_opcodes) out_[feature] = opcodes_[opcode];
    for (const unsigned opcode : memory_opcodes) out_[TotalMemInst] += opcodes_[opcode];
    return out_;
  }

 private:
  void add(const ::llvm::BasicBlock& block) {
    ++out_[TotalBlocks];
    if (block.getTerminator()) add_edges(block);
    std::size_t size = 0, phis = 0, phi_arguments = 0;
    for (const auto& instruction : block) {
      ++size;
      add(instruction);
      if (const auto* phi = dyn_cast<::llvm::PHINode>(&instruction)) {
        ++phis;
        phi_arguments += phi->getNumIncomingValues();
      }
    }
    out_[TotalInsts] += size;
    out_[BeginPhi] += size > 0 && isa<::llvm::PHINode>(block.front());
    out_[ArgsPhi] += phi_arguments;
    ++out_[phis == 0 ? BBNoPhi : phis <= 3 ? BB03Phi : BBHiPhi];
    if (phi_arguments > 0) ++out_[phi_arguments > 5 ? BBNumArgsHi : BBNumArgsLo];
    if (size <= 500) ++out_[size < 15 ? BlockLow : BlockMid];
  }

  void add_edges(const ::llvm::BasicBlock& block) {
    const auto after = ::llvm::succ_size(&block);
    const auto before = predecessors_[block.getNumber()];
    out_[NumEdges] += after;
    if (after > 1) {
      for (const auto* next : successors(&block)) {
        out_[CriticalCount] += predecessors_[next->getNumber()] > 1;
      }
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
  }

  void add(const ::llvm::Instruction& instruction) {
    ++opcodes_[instruction.getOpcode()];
    for (const auto& operand : instruction.operands()) add_constant(operand.get());
    out_[testUnary] += isa<::llvm::UnaryInstruction>(instruction);
    if (isa<::llvm::BinaryOperator>(instruction)) {
      out_[binaryConstArg] += isa<::llvm::Constant>(instruction.getOperand(0)) ||
                              isa<::llvm::Constant>(instruction.getOperand(1));
    } else if (const auto* branch = dyn_cast<::llvm::BranchInst>(&instruction)) {
      out_[UncondBranches] += branch->isUnconditional();
    } else if (const auto* call = dyn_cast<::llvm::CallInst>(&instruction)) {
      const auto* callee = call->getCalledFunction();
      out_[returnInt] += callee && callee->getReturnType()->isIntegerTy();
    } else if (const auto* choice = dyn_cast<::llvm::SwitchInst>(&instruction)) {
      // Case values were operands when the features were defined.
      for (const auto& one : choice->cases()) add_constant(one.getCaseValue());
    }
  }

  void add_constant(const ::llvm::Value* value) {
    const auto* number = dyn_cast<::llvm::ConstantInt>(value);
    if (!number || !number->getType()->isIntegerTy()) return;
    out_[const32Bit] += number->getBitWidth() == 32;
    out_[const64Bit] += number->getBitWidth() == 64;
    out_[numConstOnes] += number->isOne();
    out_[numConstZeroes] += number->isZero();
  }

  Autophase out_{};
  OpcodeCounts opcodes_{};
  std::vector<unsigned> predecessors_;
};

// Where an opcode is counted: after the three totals, ptrtoaddr with ptrtoint.
constexpr std::size_t place_of(unsigned opcode) {
  return 2 + opcode - (opcode >= Op::PtrToAddr);
}
static_assert(place_of(Op::Freeze) + 1 == inst_count_size);

}  // namespace

std::size_t count_instructions(const ::llvm::Module& module) {
  std::size_t count = 0;
  for (const auto& function : module) {
    for (const auto& block : function) count += block.size();
  }
  return count;
}

Autophase autophase(const ::llvm::Module& module) {
  AutophaseCounter counter;
  for (const auto& function : module) counter.add(function);
  return counter.result();
}

std::vector<std::string> autophase_names() {
  return {std::begin(feature_names), std::end(feature_names)};
}

InstCount inst_count(const ::llvm::Module& module) {
  InstCount out{};
  for (const auto& function : module) {
    ++out[2];
    for (const auto& block : function) {
      ++out[1];
      for (const auto& instruction : block) {
        ++out[0];
        ++out[place_of(instruction.getOpcode())];
      }
    }
  }
  return out;
}

std::size_t inst_count_place(unsigned opcode) { return place_of(opcode); }

std::vector<std::string> inst_count_names() {
  std::vector<std::string> names(inst_count_size);
  names[0] = "TotalInstsCount";
  names[1] = "TotalBlocksCount";
  names[2] = "TotalFuncsCount";
#define HANDLE_INST(NUMBER, NAME, CLASS) \
  if (NUMBER != unsigned{Op::PtrToAddr}) names[place_of(NUMBER)] = #NAME "Count";
#define HANDLE_USER_INST(NUMBER, NAME, CLASS) names[place_of(NUMBER)] = #NAME "Count";
#include "llvm/IR/Instruction.def"
  return names;
}

}  // namespace compiler_gym::llvm
