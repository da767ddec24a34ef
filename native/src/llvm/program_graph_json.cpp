#include "compiler_gym/llvm/program_graph.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "program_graph_builder.h"

namespace compiler_gym::llvm {
namespace {

class JsonWriter {
 public:
  JsonWriter(const ::llvm::Module& module, ::llvm::raw_ostream& out)
      : module_(module), built_(module), slots_(&module), texts_(program_graph_texts()), out_(out) {}

  void write() {
    out_ << R"({"directed":true,"multigraph":true,"graph":{"function":[)";
    const char* comma = "";
    for (const auto& function : module_) {
      out_ << comma;
      write_string(function.getName());
      comma = ",";
    }
    out_ << R"(],"module":[)";
    write_string(module_.getSourceFileName());
    out_ << R"(]},"nodes":[)";
    for (std::size_t id = 0; id < built_.values.size(); ++id) write_node(id);
    out_ << R"(],"links":[)";
    for (std::size_t edge = 0; edge < built_.graph.edge_kind.size(); ++edge) write_edge(edge);
    out_ << "]}";
  }

 private:
  void write_node(std::size_t id) {
    const auto& graph = built_.graph;
    describe(id);
    out_ << (id ? "," : "") << R"({"block":)" << std::max(graph.node_block[id], 0)
         << R"(,"features":{"full_text":[)";
    write_string(full_text_.str().ltrim());
    out_ << R"(]},"function":)" << std::max(graph.node_function[id], 0) << R"(,"id":)" << id
         << R"(,"text":)";
    write_string(built_.types[id] ? full_text_.str() : ::llvm::StringRef(texts_[graph.node_text[id]]));
    out_ << R"(,"type":)" << graph.node_kind[id] << '}';
  }

  void write_edge(std::size_t edge) {
    const auto& graph = built_.graph;
    const auto source = graph.edge_source[edge], target = graph.edge_target[edge];
    const auto pair = static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
    out_ << (edge ? "," : "") << R"({"flow":)" << graph.edge_kind[edge] << R"(,"key":)"
         << keys_[pair]++ << R"(,"position":)" << graph.edge_position[edge] << R"(,"source":)"
         << source << R"(,"target":)" << target << '}';
  }

  // Leave in full_text_ what LLVM prints for a vertex.
  void describe(std::size_t id) {
    full_text_.clear();
    ::llvm::raw_svector_ostream text(full_text_);
    const auto* value = built_.values[id];
    if (built_.types[id]) {
      built_.types[id]->print(text);
    } else if (!value || ::llvm::isa<::llvm::Function>(value)) {
      return;
    } else if (built_.graph.node_kind[id] == static_cast<std::int32_t>(NodeKind::Instruction)) {
      value->print(text, slots_);
    } else {
      if (const auto* owner = function_of(*value)) slots_.incorporateFunction(*owner);
      value->printAsOperand(text, /*PrintType=*/true, slots_);
    }
  }

  static const ::llvm::Function* function_of(const ::llvm::Value& value) {
    if (const auto* argument = ::llvm::dyn_cast<::llvm::Argument>(&value)) {
      return argument->getParent();
    }
    const auto* instruction = ::llvm::dyn_cast<::llvm::Instruction>(&value);
    return instruction ? instruction->getFunction() : nullptr;
  }

  void write_string(::llvm::StringRef text) {
    const bool plain = ::llvm::all_of(text, [](unsigned char letter) {
      return letter >= 0x20 && letter < 0x7f && letter != '"' && letter != '\\';
    });
    if (plain) {
      out_ << '"' << text << '"';
    } else {
      out_ << ::llvm::json::Value(::llvm::json::fixUTF8(text));
    }
  }

  const ::llvm::Module& module_;
  ProgramGraphBuilder built_;
  ::llvm::ModuleSlotTracker slots_;
  std::vector<std::string> texts_;
  ::llvm::raw_ostream& out_;
  ::llvm::SmallString<256> full_text_;
  ::llvm::DenseMap<std::uint64_t, std::int32_t> keys_;
};

}  // namespace

std::string program_graph_json(const ::llvm::Module& module) {
  std::string text;
  ::llvm::raw_string_ostream out(text);
  JsonWriter(module, out).write();
  return text;
}

}  // namespace compiler_gym::llvm
