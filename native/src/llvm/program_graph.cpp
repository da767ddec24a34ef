#include "compiler_gym/llvm/program_graph.h"

#include "program_graph_builder.h"

namespace compiler_gym::llvm {

using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

enum Text : std::int32_t { External, Undefined, Var, Val, FirstOpcode };

// Opcodes start at 1 and end before OtherOpsEnd.
constexpr std::int32_t opcode_texts = ::llvm::Instruction::OtherOpsEnd - 1;
constexpr std::int32_t first_type = FirstOpcode + opcode_texts;
constexpr unsigned integer_widths[] = {1, 8, 16, 32, 64, 128};

constexpr std::int32_t UserOp1 = ::llvm::Instruction::UserOp1;
constexpr std::int32_t UserOp2 = ::llvm::Instruction::UserOp2;

// Kinds of type in the order of Type::TypeID; integers of usual widths follow.
constexpr const char* type_names[] = {
    "half", "bfloat", "float",    "double",  "x86_fp80",        "fp128",     "ppc_fp128",
    "void", "label",  "metadata", "x86_amx", "token",           "iN",        "function",
    "ptr",  "struct", "array",    "vector",  "scalable vector", "typed ptr", "target type"};
constexpr std::int32_t type_kinds = std::size(type_names);
static_assert(type_kinds == ::llvm::Type::TargetExtTyID + 1);

std::int32_t text_of(const ::llvm::Type& type) {
  if (type.isIntegerTy()) {
    for (std::size_t i = 0; i < std::size(integer_widths); ++i) {
      if (type.getIntegerBitWidth() == integer_widths[i]) {
        return first_type + type_kinds + static_cast<std::int32_t>(i);
      }
    }
  }
  return first_type + static_cast<std::int32_t>(type.getTypeID());
}

// Metadata, blocks, inline assembly and functions are not data: the opcode, or control and call
// edges, represent them.
bool is_data(const ::llvm::Value& value) {
  return !isa<::llvm::Function, ::llvm::BasicBlock, ::llvm::InlineAsm, ::llvm::MetadataAsValue>(
      value);
}

}  // namespace

ProgramGraphBuilder::ProgramGraphBuilder(const ::llvm::Module& module) {
  reserve(module);
  node(NodeKind::Instruction, External, {}, nullptr);
  for (const auto& function : module) {
    place_of_[&function] = static_cast<std::int32_t>(ends_.size());
    add_function(function);
  }
  add_calls();
}

void ProgramGraphBuilder::reserve(const ::llvm::Module& module) {
  std::size_t instructions = 0;
  for (const auto& function : module) {
    for (const auto& block : function) instructions += block.size();
  }
  for (auto* column :
       {&graph.node_kind, &graph.node_text, &graph.node_function, &graph.node_block}) {
    column->reserve(2 * instructions + 64);
  }
  for (auto* column :
       {&graph.edge_source, &graph.edge_target, &graph.edge_kind, &graph.edge_position}) {
    column->reserve(6 * instructions + 64);
  }
  values.reserve(2 * instructions + 64);
  types.reserve(2 * instructions + 64);
  node_of_.reserve(2 * instructions + 64);
}

void ProgramGraphBuilder::add_function(const ::llvm::Function& function) {
  const auto place = static_cast<std::int32_t>(ends_.size());
  if (function.isDeclaration()) {
    const auto stub = node(NodeKind::Instruction, Undefined, {place, -1}, &function);
    ends_.push_back({stub, {stub}});
    return;
  }
  add_instructions(function);
  add_variables(function);
  for (const auto& block : function) {
    add_control(block);
    for (const auto& instruction : block) add_operands(instruction);
  }
}

void ProgramGraphBuilder::add_instructions(const ::llvm::Function& function) {
  Ends ends{static_cast<std::int32_t>(values.size()), {}};
  const auto place = static_cast<std::int32_t>(ends_.size());
  for (const auto& block : function) {
    for (const auto& instruction : block) {
      const auto text = FirstOpcode + static_cast<std::int32_t>(instruction.getOpcode()) - 1;
      const auto here = node(NodeKind::Instruction, text, {place, blocks_}, &instruction);
      node_of_[&instruction] = here;
      const auto* call = dyn_cast<::llvm::CallBase>(&instruction);
      if (call && call->getCalledFunction()) {
        call_sites_.emplace_back(here, call->getCalledFunction());
      }
      if (instruction.isTerminator() && instruction.getNumSuccessors() == 0) {
        ends.exits.push_back(here);
      }
    }
    ++blocks_;
  }
  ends_.push_back(std::move(ends));
}

// The key of a result is the address of its instruction plus one: the instruction itself is another
// vertex.
static const void* result_key(const ::llvm::Instruction& instruction) {
  return reinterpret_cast<const char*>(&instruction) + 1;
}

void ProgramGraphBuilder::add_variables(const ::llvm::Function& function) {
  const auto place = static_cast<std::int32_t>(ends_.size()) - 1;
  auto block_place = blocks_ - static_cast<std::int32_t>(function.size());
  for (const auto& argument : function.args()) {
    if (!argument.use_empty()) {
      node_of_[&argument] = static_cast<std::int32_t>(values.size());
      add_variable(argument, {place, block_place});
    }
  }
  for (const auto& block : function) {
    for (const auto& instruction : block) {
      if (instruction.use_empty()) continue;
      const auto variable = static_cast<std::int32_t>(values.size());
      node_of_[result_key(instruction)] = variable;
      add_variable(instruction, {place, block_place});
      edge(EdgeKind::Data, node_of_.lookup(&instruction), variable);
    }
    ++block_place;
  }
}

void ProgramGraphBuilder::add_variable(const ::llvm::Value& value, Place place) {
  const auto variable = node(NodeKind::Variable, Var, place, &value);
  edge(EdgeKind::Type, type(*value.getType()), variable);
}

void ProgramGraphBuilder::add_control(const ::llvm::BasicBlock& block) {
  if (block.empty()) return;
  auto before = node_of_.lookup(&block.front());
  for (const auto& instruction : ::llvm::drop_begin(block)) {
    const auto here = node_of_.lookup(&instruction);
    edge(EdgeKind::Control, before, here);
    before = here;
  }
  if (!block.back().isTerminator()) return;
  std::int32_t position = 0;
  for (const auto* next : successors(&block)) {
    edge(EdgeKind::Control, before, node_of_.lookup(&next->front()), position++);
  }
}

void ProgramGraphBuilder::add_operands(const ::llvm::Instruction& instruction) {
  const auto here = node_of_.lookup(&instruction);
  for (const auto& use : instruction.operands()) {
    const auto* value = use.get();
    if (!is_data(*value)) continue;
    std::int32_t source;
    if (const auto* known = dyn_cast<::llvm::Constant>(value)) {
      source = constant(*known);
    } else if (const auto* producer = dyn_cast<::llvm::Instruction>(value)) {
      source = node_of_.lookup(result_key(*producer));
    } else {
      source = node_of_.lookup(value);
    }
    edge(EdgeKind::Data, source, here, static_cast<std::int32_t>(use.getOperandNo()));
  }
}

void ProgramGraphBuilder::add_calls() {
  const auto connect = [this](std::int32_t caller, const Ends& callee) {
    edge(EdgeKind::Call, caller, callee.entry);
    for (const auto exit : callee.exits) edge(EdgeKind::Call, exit, caller);
  };
  for (const auto& ends : ends_) connect(0, ends);
  for (const auto& [caller, callee] : call_sites_) connect(caller, ends_[place_of_.lookup(callee)]);
}

std::int32_t ProgramGraphBuilder::constant(const ::llvm::Constant& value) {
  if (const auto found = node_of_.find(&value); found != node_of_.end()) return found->second;
  const auto made = node(NodeKind::Constant, Val, {}, &value);
  node_of_[&value] = made;
  edge(EdgeKind::Type, type(*value.getType()), made);
  return made;
}

std::int32_t ProgramGraphBuilder::type(const ::llvm::Type& wanted) {
  if (const auto found = node_of_.find(&wanted); found != node_of_.end()) return found->second;
  const auto made = node(NodeKind::Type, text_of(wanted), {}, nullptr, &wanted);
  node_of_[&wanted] = made;
  std::int32_t position = 0;
  for (const auto* part : wanted.subtypes()) {
    const auto source = type(*part);
    edge(EdgeKind::Type, source, made, position++);
  }
  return made;
}

std::int32_t ProgramGraphBuilder::node(NodeKind kind, std::int32_t text, Place place,
                                       const ::llvm::Value* value, const ::llvm::Type* type) {
  graph.node_kind.push_back(static_cast<std::int32_t>(kind));
  graph.node_text.push_back(text);
  graph.node_function.push_back(place.function);
  graph.node_block.push_back(place.block);
  values.push_back(value);
  types.push_back(type);
  return static_cast<std::int32_t>(values.size()) - 1;
}

void ProgramGraphBuilder::edge(EdgeKind kind, std::int32_t source, std::int32_t target,
                               std::int32_t position) {
  graph.edge_source.push_back(source);
  graph.edge_target.push_back(target);
  graph.edge_kind.push_back(static_cast<std::int32_t>(kind));
  graph.edge_position.push_back(position);
}

ProgramGraph program_graph(const ::llvm::Module& module) {
  return std::move(ProgramGraphBuilder(module).graph);
}

std::vector<std::string> program_graph_texts() {
  std::vector<std::string> texts{"[external]", "; undefined function", "var", "val"};
  for (std::int32_t opcode = 1; opcode <= opcode_texts; ++opcode) {
    const bool is_user = opcode == UserOp1 || opcode == UserOp2;  // LLVM has no names for them
    texts.push_back(is_user ? "userop" + std::to_string(opcode - UserOp1 + 1)
                            : ::llvm::Instruction::getOpcodeName(opcode));
  }
  texts.insert(texts.end(), std::begin(type_names), std::end(type_names));
  for (const auto width : integer_widths) texts.push_back(("i" + ::llvm::Twine(width)).str());
  return texts;
}

}  // namespace compiler_gym::llvm
