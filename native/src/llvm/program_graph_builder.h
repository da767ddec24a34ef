// Builds the graph, and stores the value or type of each vertex.
#pragma once

#include <vector>

#include "compiler_gym/llvm/program_graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {

class ProgramGraphBuilder {
 public:
  explicit ProgramGraphBuilder(const ::llvm::Module& module);

  ProgramGraph graph;
  // The value or type of each vertex; both are null for vertex 0.
  std::vector<const ::llvm::Value*> values;
  std::vector<const ::llvm::Type*> types;

 private:
  struct Ends {
    std::int32_t entry;
    ::llvm::SmallVector<std::int32_t, 4> exits;
  };
  struct Place {
    std::int32_t function = -1;
    std::int32_t block = -1;
  };

  void reserve(const ::llvm::Module& module);
  void add_function(const ::llvm::Function& function);
  void add_instructions(const ::llvm::Function& function);
  void add_variables(const ::llvm::Function& function);
  void add_variable(const ::llvm::Value& value, Place place);
  void add_control(const ::llvm::BasicBlock& block);
  void add_operands(const ::llvm::Instruction& instruction);
  void add_calls();

  std::int32_t constant(const ::llvm::Constant& value);
  std::int32_t type(const ::llvm::Type& type);
  std::int32_t node(NodeKind kind, std::int32_t text, Place place, const ::llvm::Value* value,
                    const ::llvm::Type* type = nullptr);
  void edge(EdgeKind kind, std::int32_t source, std::int32_t target, std::int32_t position = 0);

  ::llvm::DenseMap<const void*, std::int32_t> node_of_;
  std::vector<Ends> ends_;
  ::llvm::DenseMap<const ::llvm::Function*, std::int32_t> place_of_;
  std::vector<std::pair<std::int32_t, const ::llvm::Function*>> call_sites_;
  std::int32_t blocks_ = 0;
};

}  // namespace compiler_gym::llvm
