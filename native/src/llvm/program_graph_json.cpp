#include "compiler_gym/llvm/program_graph.h"

#include <charconv>

#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "program_graph_builder.h"
#include "text_stream.h"

namespace compiler_gym::llvm {
namespace {

// LLVM's text of each instruction. Printing one alone takes twice as long, half of it for
// preparation, so the module is printed once, and LLVM reports the position of each instruction.
class InstructionTexts : public ::llvm::AssemblyAnnotationWriter {
 public:
  explicit InstructionTexts(const ::llvm::Module& module) {
    TextStream out(text_);
    module.print(out, this);
  }

  ::llvm::StringRef of(const ::llvm::Instruction& instruction) const {
    const auto& [start, end] = places_.find(&instruction)->second;
    return ::llvm::StringRef(text_).slice(start, end).ltrim();
  }

 private:
  void emitInstructionAnnot(const ::llvm::Instruction* instruction,
                            ::llvm::formatted_raw_ostream& out) override {
    places_[instruction].first = out.tell();
  }

  void printInfoComment(const ::llvm::Value& value, ::llvm::formatted_raw_ostream& out) override {
    const auto found = places_.find(&value);
    if (found != places_.end()) found->second.second = out.tell();
  }

  std::string text_;
  ::llvm::DenseMap<const ::llvm::Value*, std::pair<std::size_t, std::size_t>> places_;
};

// LLVM's streams would take ten times as long for pieces this small.
class JsonText {
 public:
  explicit JsonText(std::size_t size) { text_.reserve(size); }

  JsonText& operator<<(::llvm::StringRef piece) {
    text_.append(piece.data(), piece.size());
    return *this;
  }

  JsonText& operator<<(std::int64_t number) {
    char digits[20];
    const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), number);
    text_.append(digits, end);
    return *this;
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class JsonWriter {
 public:
  explicit JsonWriter(const ::llvm::Module& module)
      : module_(module),
        built_(module),
        instructions_(module),
        slots_(&module),
        texts_(program_graph_texts()),
        out_(192 * built_.values.size() + 72 * built_.graph.edge_kind.size() + 256) {}

  std::string write() {
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
    return out_.take();
  }

 private:
  void write_node(std::size_t id) {
    const auto& graph = built_.graph;
    const auto full_text = describe(id);
    out_ << (id ? "," : "") << R"({"block":)" << std::max(graph.node_block[id], 0)
         << R"(,"features":{"full_text":[)";
    write_string(full_text);
    out_ << R"(]},"function":)" << std::max(graph.node_function[id], 0) << R"(,"id":)"
         << static_cast<std::int64_t>(id) << R"(,"text":)";
    write_string(built_.types[id] ? full_text : ::llvm::StringRef(texts_[graph.node_text[id]]));
    out_ << R"(,"type":)" << graph.node_kind[id] << "}";
  }

  void write_edge(std::size_t edge) {
    const auto& graph = built_.graph;
    const auto source = graph.edge_source[edge], target = graph.edge_target[edge];
    const auto pair = static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
    out_ << (edge ? "," : "") << R"({"flow":)" << graph.edge_kind[edge] << R"(,"key":)"
         << keys_[pair]++ << R"(,"position":)" << graph.edge_position[edge] << R"(,"source":)"
         << source << R"(,"target":)" << target << "}";
  }

  // LLVM's text for a vertex; valid until the next call.
  ::llvm::StringRef describe(std::size_t id) {
    const auto* value = built_.values[id];
    if (built_.types[id]) return type_text(*built_.types[id]);
    if (!value || ::llvm::isa<::llvm::Function>(value)) return "";
    if (built_.graph.node_kind[id] == static_cast<std::int32_t>(NodeKind::Instruction)) {
      return instructions_.of(*::llvm::cast<::llvm::Instruction>(value));
    }
    full_text_.clear();
    ::llvm::raw_svector_ostream text(full_text_);
    const auto* owner = function_of(*value);
    if (owner) slots_.incorporateFunction(*owner);
    if (owner && !value->hasName()) {
      text << type_text(*value->getType()) << " %" << slots_.getLocalSlot(value);
    } else {
      value->printAsOperand(text, /*PrintType=*/true, slots_);
    }
    return full_text_;
  }

  ::llvm::StringRef type_text(const ::llvm::Type& type) {
    auto& text = type_texts_[&type];
    if (text.empty()) {
      ::llvm::raw_string_ostream out(text);
      type.print(out);
    }
    return text;
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
      out_ << "\"" << text << "\"";
    } else {
      std::string quoted;
      ::llvm::raw_string_ostream(quoted) << ::llvm::json::Value(::llvm::json::fixUTF8(text));
      out_ << quoted;
    }
  }

  const ::llvm::Module& module_;
  ProgramGraphBuilder built_;
  InstructionTexts instructions_;
  ::llvm::ModuleSlotTracker slots_;
  std::vector<std::string> texts_;
  JsonText out_;
  ::llvm::SmallString<256> full_text_;
  ::llvm::DenseMap<const ::llvm::Type*, std::string> type_texts_;
  ::llvm::DenseMap<std::uint64_t, std::int32_t> keys_;
};

}  // namespace

std::string program_graph_json(const ::llvm::Module& module) { return JsonWriter(module).write(); }

}  // namespace compiler_gym::llvm
