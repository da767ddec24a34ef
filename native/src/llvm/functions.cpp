#include "compiler_gym/llvm/functions.h"

#include <array>

#include "compiler_gym/llvm/features.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/FunctionPropertiesAnalysis.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "loop_analyses.h"
#include "options.h"

namespace compiler_gym::llvm {

using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

struct Property {
  const char* name;
  std::int64_t ::llvm::FunctionPropertiesInfo::* value;
};

#define PROPERTY(NAME) {"Properties." #NAME, &::llvm::FunctionPropertiesInfo::NAME}
constexpr Property properties[] = {
    PROPERTY(BasicBlockCount),
    PROPERTY(BlocksReachedFromConditionalInstruction),
    PROPERTY(Uses),
    PROPERTY(DirectCallsToDefinedFunctions),
    PROPERTY(LoadInstCount),
    PROPERTY(StoreInstCount),
    PROPERTY(MaxLoopDepth),
    PROPERTY(TopLevelLoopCount),
    PROPERTY(TotalInstructionCount),
    PROPERTY(BasicBlocksWithSingleSuccessor),
    PROPERTY(BasicBlocksWithTwoSuccessors),
    PROPERTY(BasicBlocksWithMoreThanTwoSuccessors),
    PROPERTY(BasicBlocksWithSinglePredecessor),
    PROPERTY(BasicBlocksWithTwoPredecessors),
    PROPERTY(BasicBlocksWithMoreThanTwoPredecessors),
    PROPERTY(BigBasicBlocks),
    PROPERTY(MediumBasicBlocks),
    PROPERTY(SmallBasicBlocks),
    PROPERTY(CastInstructionCount),
    PROPERTY(FloatingPointInstructionCount),
    PROPERTY(IntegerInstructionCount),
    PROPERTY(ConstantIntOperandCount),
    PROPERTY(ConstantFPOperandCount),
    PROPERTY(ConstantOperandCount),
    PROPERTY(InstructionOperandCount),
    PROPERTY(BasicBlockOperandCount),
    PROPERTY(GlobalValueOperandCount),
    PROPERTY(InlineAsmOperandCount),
    PROPERTY(ArgumentOperandCount),
    PROPERTY(UnknownOperandCount),
    PROPERTY(CriticalEdgeCount),
    PROPERTY(ControlFlowEdgeCount),
    PROPERTY(UnconditionalBranchCount),
    PROPERTY(ConditionalBranchCount),
    PROPERTY(BranchInstructionCount),
    PROPERTY(BranchSuccessorCount),
    PROPERTY(SwitchInstructionCount),
    PROPERTY(SwitchSuccessorCount),
    PROPERTY(IntrinsicCount),
    PROPERTY(DirectCallCount),
    PROPERTY(IndirectCallCount),
    PROPERTY(CallReturnsIntegerCount),
    PROPERTY(CallReturnsFloatCount),
    PROPERTY(CallReturnsPointerCount),
    PROPERTY(CallReturnsVectorIntCount),
    PROPERTY(CallReturnsVectorFloatCount),
    PROPERTY(CallReturnsVectorPointerCount),
    PROPERTY(CallWithManyArgumentsCount),
    PROPERTY(CallWithPointerArgumentCount),
};
#undef PROPERTY

// The order of the columns between the opcodes and the properties.
constexpr const char* shape_names[] = {"Instructions",
                                       "Blocks",
                                       "Edges",
                                       "CyclomaticComplexity",
                                       "Arguments",
                                       "Loops",
                                       "MaxLoopDepth",
                                       "InstructionsInLoops",
                                       "Calls",
                                       "IndirectCalls",
                                       "IntrinsicCalls",
                                       "MemoryInstructions",
                                       "VectorInstructions",
                                       "FloatInstructions",
                                       "AllocaInstructions",
                                       "IsExternallyVisible",
                                       "IsVarArg"};
enum Shape : std::size_t {
  Instructions,
  Blocks,
  Edges,
  Cyclomatic,
  Arguments,
  LoopCount,
  MaxDepth,
  InLoops,
  Calls,
  IndirectCalls,
  IntrinsicCalls,
  Memory,
  Vector,
  Float,
  Alloca,
  Visible,
  VarArg,
  shapes
};
static_assert(std::size(shape_names) == shapes);

// The opcodes that InstCount counts, in its order, after its three totals.
constexpr std::size_t totals = 3;
constexpr std::size_t opcodes = inst_count_size - totals;

std::size_t opcode_column(unsigned opcode) {
  return opcode - 1 - (opcode >= ::llvm::Instruction::PtrToAddr);
}

bool touches_vector(const ::llvm::Instruction& instruction) {
  const auto is_vector = [](const ::llvm::Value* v) { return v->getType()->isVectorTy(); };
  return instruction.getType()->isVectorTy() || ::llvm::any_of(instruction.operands(), is_vector);
}

bool touches_float(const ::llvm::Instruction& instruction) {
  const auto is_float = [](const ::llvm::Value* v) { return v->getType()->isFPOrFPVectorTy(); };
  return instruction.getType()->isFPOrFPVectorTy() ||
         ::llvm::any_of(instruction.operands(), is_float);
}

class FunctionRow {
 public:
  FunctionRow(const ::llvm::Function& function, std::int64_t* row)
      : function_(function),
        opcodes_(row),
        shape_(row + opcodes),
        properties_(row + opcodes + shapes),
        analyses_(make_fragile<Loops>(function)) {}

  void fill() {
    shape_[Blocks] = static_cast<std::int64_t>(function_.size());
    shape_[Arguments] = static_cast<std::int64_t>(function_.arg_size());
    shape_[Visible] = !function_.hasLocalLinkage();
    shape_[VarArg] = function_.isVarArg();
    for (const auto& block : function_) add(block);
    shape_[Cyclomatic] = shape_[Edges] - shape_[Blocks] + 2;
    for (const auto* loop : analyses_->loops.getLoopsInPreorder()) {
      ++shape_[LoopCount];
      shape_[MaxDepth] = std::max<std::int64_t>(shape_[MaxDepth], loop->getLoopDepth());
    }
    const auto found = ::llvm::FunctionPropertiesInfo::getFunctionPropertiesInfo(
        function_, analyses_->dominators, analyses_->loops, /*Vocabulary=*/nullptr);
    for (std::size_t i = 0; i < std::size(properties); ++i) {
      properties_[i] = found.*properties[i].value;
    }
  }

 private:
  void add(const ::llvm::BasicBlock& block) {
    const bool looped = analyses_->loops.getLoopFor(&block) != nullptr;
    if (block.getTerminator()) shape_[Edges] += ::llvm::succ_size(&block);
    for (const auto& instruction : block) {
      ++opcodes_[opcode_column(instruction.getOpcode())];
      ++shape_[Instructions];
      shape_[InLoops] += looped;
      shape_[Memory] += instruction.mayReadOrWriteMemory();
      shape_[Vector] += touches_vector(instruction);
      shape_[Float] += touches_float(instruction);
      shape_[Alloca] += isa<::llvm::AllocaInst>(instruction);
      if (const auto* call = dyn_cast<::llvm::CallBase>(&instruction)) add_call(*call);
    }
  }

  void add_call(const ::llvm::CallBase& call) {
    if (isa<::llvm::IntrinsicInst>(call)) {
      ++shape_[IntrinsicCalls];
    } else if (!call.isInlineAsm()) {
      ++shape_[Calls];
      shape_[IndirectCalls] += call.getCalledFunction() == nullptr;
    }
  }

  const ::llvm::Function& function_;
  std::int64_t* opcodes_;
  std::int64_t* shape_;
  std::int64_t* properties_;
  Fragile<Loops> analyses_;
};

// LLVM leaves most properties at zero unless this option is on; its only other reader is its
// learned inliner.
void count_all_properties() { set_option("enable-detailed-function-properties", "true"); }

constexpr std::size_t columns = opcodes + shapes + std::size(properties);

}  // namespace

std::vector<std::string> function_feature_names() {
  auto names = inst_count_names();
  names.erase(names.begin(), names.begin() + totals);
  names.insert(names.end(), std::begin(shape_names), std::end(shape_names));
  for (const auto& property : properties) names.emplace_back(property.name);
  return names;
}

FunctionTable function_table(const ::llvm::Module& module) {
  count_all_properties();
  FunctionTable table;
  for (const auto& function : module) {
    if (!function.isDeclaration()) table.names.push_back(function.getName().str());
  }
  table.features.resize(table.names.size() * columns);
  auto* row = table.features.data();
  for (const auto& function : module) {
    if (function.isDeclaration()) continue;
    FunctionRow(function, row).fill();
    row += columns;
  }
  return table;
}

CallGraphTable call_graph(const ::llvm::Module& module) {
  CallGraphTable table;
  ::llvm::DenseMap<const ::llvm::Function*, std::int32_t> place;
  for (const auto& function : module) {
    place[&function] = static_cast<std::int32_t>(table.names.size());
    table.names.push_back(function.getName().str());
    table.is_defined.push_back(!function.isDeclaration());
    table.instructions.push_back(0);
    table.indirect_calls.push_back(0);
  }
  for (const auto& function : module) {
    const auto caller = place[&function];
    ::llvm::MapVector<std::int32_t, std::int32_t> calls;
    for (const auto& block : function) {
      table.instructions[caller] += static_cast<std::int64_t>(block.size());
      for (const auto& instruction : block) {
        const auto* call = dyn_cast<::llvm::CallBase>(&instruction);
        if (!call || call->isInlineAsm()) continue;
        const auto* callee = call->getCalledFunction();
        if (callee)
          ++calls[place[callee]];
        else
          ++table.indirect_calls[caller];
      }
    }
    for (const auto& [callee, count] : calls) {
      table.caller.push_back(caller);
      table.callee.push_back(callee);
      table.calls.push_back(count);
    }
  }
  return table;
}

namespace {

void add_loops(const ::llvm::Function& function, std::int32_t place,
               const ::llvm::TargetLibraryInfoImpl& library, LoopForest& forest) {
  const auto analyses = make_fragile<LoopAnalyses>(function, library);
  ::llvm::DenseMap<const ::llvm::BasicBlock*, std::int32_t> block_place;
  for (const auto& block : function) {
    block_place[&block] = static_cast<std::int32_t>(block_place.size());
  }
  ::llvm::DenseMap<const ::llvm::Loop*, std::int32_t> row;
  for (const auto* loop : analyses->loops.getLoopsInPreorder()) {
    row[loop] = static_cast<std::int32_t>(forest.function.size());
    const auto* parent = loop->getParentLoop();
    std::int64_t instructions = 0;
    for (const auto* block : loop->blocks())
      instructions += static_cast<std::int64_t>(block->size());
    ::llvm::SmallVector<::llvm::BasicBlock*, 8> exits, latches;
    loop->getUniqueExitBlocks(exits);
    loop->getLoopLatches(latches);
    forest.function.push_back(place);
    forest.parent.push_back(parent ? row[parent] : -1);
    forest.depth.push_back(static_cast<std::int32_t>(loop->getLoopDepth()));
    forest.header.push_back(block_place[loop->getHeader()]);
    forest.blocks.push_back(static_cast<std::int32_t>(loop->getNumBlocks()));
    forest.instructions.push_back(instructions);
    forest.exits.push_back(static_cast<std::int32_t>(exits.size()));
    forest.latches.push_back(static_cast<std::int32_t>(latches.size()));
    forest.trip_count.push_back(analyses->evolution.getSmallConstantTripCount(loop));
    forest.is_simplified.push_back(loop->isLoopSimplifyForm());
    forest.is_rotated.push_back(loop->isRotatedForm());
  }
}

}  // namespace

LoopForest loop_forest(const ::llvm::Module& module) {
  LoopForest forest;
  const ::llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  std::int32_t place = 0;
  for (const auto& function : module) {
    if (!function.isDeclaration()) add_loops(function, place, library, forest);
    ++place;
  }
  return forest;
}

namespace {

// Call of defined functions by name, with their frequency in one run of the caller.
std::vector<std::pair<const ::llvm::Function*, double>> weighted_calls(
    const ::llvm::Function& function) {
  const auto known = make_fragile<Loops>(function);
  const auto probabilities = make_fragile<::llvm::BranchProbabilityInfo>(function, known->loops);
  const auto frequencies =
      make_fragile<::llvm::BlockFrequencyInfo>(function, *probabilities, known->loops);
  const auto entry = static_cast<double>(frequencies->getEntryFreq().getFrequency());
  std::vector<std::pair<const ::llvm::Function*, double>> calls;
  for (const auto& block : function) {
    const auto times = static_cast<double>(frequencies->getBlockFreq(&block).getFrequency());
    for (const auto& instruction : block) {
      const auto* call = dyn_cast<::llvm::CallBase>(&instruction);
      const auto* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration()) calls.emplace_back(callee, times / entry);
    }
  }
  return calls;
}

}  // namespace

std::vector<std::pair<std::string, double>> call_frequencies(const ::llvm::Module& module) {
  const auto graph = make_fragile<::llvm::CallGraph>(const_cast<::llvm::Module&>(module));
  std::vector<std::vector<const ::llvm::Function*>> components;  // callees before callers
  for (auto it = ::llvm::scc_begin(graph.get()); !it.isAtEnd(); ++it) {
    auto& component = components.emplace_back();
    for (const auto* node : *it) {
      const auto* function = node->getFunction();
      if (function && !function->isDeclaration()) component.push_back(function);
    }
  }
  ::llvm::DenseMap<const ::llvm::Function*, double> times;
  ::llvm::DenseSet<const ::llvm::Function*> called;
  for (auto component = components.rbegin(); component != components.rend(); ++component) {
    for (const auto* function : *component) {
      if (function->getName() == "main" || !called.contains(function)) times[function] += 1;
    }
    for (const auto* function : *component) {
      const double runs = times.lookup(function);
      for (const auto& [callee, share] : weighted_calls(*function)) {
        if (::llvm::is_contained(*component, callee)) continue;
        times[callee] += runs * share;
        called.insert(callee);
      }
    }
  }
  std::vector<std::pair<std::string, double>> rows;
  for (const auto& function : module) {
    if (!function.isDeclaration()) {
      rows.emplace_back(function.getName().str(), times.lookup(&function));
    }
  }
  return rows;
}

}  // namespace compiler_gym::llvm
