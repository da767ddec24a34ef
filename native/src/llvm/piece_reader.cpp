#include "piece_reader.h"

#include <utility>

#include "description_constant.h"
#include "description_function.h"
#include "description_symbol.h"

namespace compiler_gym::llvm {
namespace {

// Deeper trees of metadata are described by what they hold.
constexpr unsigned deepest = 16;

// Say what comes, where numbers, names and addresses may: numbers are far below.
constexpr std::uint32_t lasting_address = 0xFFFFFFF6;
constexpr std::uint32_t name_of_symbol = 0xFFFFFFF4;
constexpr std::uint32_t end_of_symbols = 0xFFFFFFF2;

bool is_leftover(const ::llvm::User& user) {
  if (!::llvm::isa<::llvm::Constant>(user) || ::llvm::isa<::llvm::GlobalValue>(user)) return false;
  return ::llvm::all_of(user.users(), [](const auto* one) { return is_leftover(*one); });
}

}  // namespace

bool is_in_use(const ::llvm::Use& use) { return !is_leftover(*use.getUser()); }

const ::llvm::Use* next_in_list(const ::llvm::Use& use) {
  const auto* next = use.getNext();
  while (next && !is_in_use(*next)) next = next->getNext();
  return next;
}

void PieceReader::read_body(const ::llvm::Function& function, Piece& piece) {
  start(piece);
  function_ = &function;
  for (const auto& use : function.operands()) constant_use(use);
  attachments<::llvm::GlobalObject>(function);
  describe_body(function);
  function_ = nullptr;
  finish(piece);
}

void PieceReader::read_outside(const ::llvm::Module& module, Piece& piece) {
  start(piece);
  for (const auto& variable : module.globals()) {
    attachments<::llvm::GlobalObject>(variable);
    if (variable.hasInitializer()) constant_use(variable.getOperandUse(0));
  }
  for (const auto& function : module) {
    if (!function.isDeclaration()) continue;
    attachments<::llvm::GlobalObject>(function);
    for (const auto& use : function.operands()) constant_use(use);
  }
  for (const auto& alias : module.aliases()) constant_use(alias.getOperandUse(0));
  for (const auto& ifunc : module.ifuncs()) {
    attachments<::llvm::GlobalObject>(ifunc);
    constant_use(ifunc.getOperandUse(0));
  }
  for (const auto& named : module.named_metadata()) {
    unusual_ |= named.getName() == "llvm.dbg.cu";
    out_.text(named.getName());
    out_.word(named.getNumOperands());
    for (const auto* node : named.operands()) metadata(node);
  }
  finish(piece);
}

WordStream::Digest PieceReader::symbols(const ::llvm::Module& module) {
  out_.text(module.getTargetTriple().str());
  out_.text(module.getDataLayoutStr());
  out_.text(module.getSourceFileName());
  out_.text(module.getModuleInlineAsm());
  for (const auto& variable : module.globals()) describe_variable(variable);
  out_.word(end_of_symbols);
  for (const auto& function : module) describe_function(function);
  out_.word(end_of_symbols);
  for (const auto& alias : module.aliases()) describe_symbol(alias);
  out_.word(end_of_symbols);
  for (const auto& ifunc : module.ifuncs()) describe_object(ifunc, std::nullopt);
  for (const auto& symbol : module.global_values()) unusual_ |= !symbol.hasName();
  return out_.finish();
}

bool PieceReader::met_the_unusual() {
  unusual_ |= std::exchange(has_debug_info_, false);
  return std::exchange(unusual_, false);
}

void PieceReader::start(Piece& piece) {
  piece_ = &piece;
  locals_.reset(piece.locals);
  shared_.reset(piece.uses.size());
  piece.uses.clear();
  piece.nodes.clear();
  next_local_ = next_shared_ = 0;
  instruction_count_ = 0;
}

void PieceReader::finish(Piece& piece) {
  piece.content = out_.finish();
  piece.instructions = instruction_count_;
  piece.locals = next_local_;
  piece.own_nodes = piece.nodes.size();
  refresh(piece);
}

void PieceReader::refresh(Piece& piece) {
  piece_ = &piece;
  piece.next_uses.clear();
  for (const auto* use : piece.uses) piece.next_uses.push_back(next_in_list(*use));
  piece.nodes.resize(piece.own_nodes);
  piece.node_content = {};
  if (piece.nodes.empty()) return;
  shared_.reset(piece.nodes.size() * 2);
  next_shared_ = 0;
  for (const auto* node : piece.nodes) is_new(node);
  // Those that they mention follow them.
  for (std::size_t at = 0; at < piece.nodes.size(); ++at) describe_metadata(*piece.nodes[at]);
  piece.node_content = out_.finish();
}

bool PieceReader::is_new(const void* key) {
  const auto number = shared_.find_or_insert(key, next_shared_);
  out_.word(number * 2 + 1);
  if (number != next_shared_) return false;
  ++next_shared_;
  return true;
}

void PieceReader::name(const ::llvm::GlobalValue& symbol) {
  unusual_ |= !symbol.hasName();
  out_.word(name_of_symbol);
  out_.text(symbol.getName());
}

void PieceReader::constant(const ::llvm::Value& value) {
  if (!value.hasUseList()) {
    out_.word(lasting_address);
    address(&value);
  } else if (const auto* symbol = ::llvm::dyn_cast<::llvm::GlobalValue>(&value)) {
    name(*symbol);
  } else if (is_new(&value)) {
    describe_constant(value);
  }
}

void PieceReader::constant_use(const ::llvm::Use& use) {
  // Only IR that does not verify leaves an operand out.
  if (!use) return out_.word(~0u);
  if (use->hasUseList()) piece_->uses.push_back(&use);
  constant(*use.get());
}

void PieceReader::metadata(const ::llvm::Metadata* node) {
  if (!node) {
    out_.word(~0u);
  } else if (const auto* wrapped = ::llvm::dyn_cast<::llvm::LocalAsMetadata>(node)) {
    local(*wrapped->getValue());
  } else if (is_lasting(*node)) {
    out_.word(lasting_address);
    address(node);
  } else if (const auto* outer = ::llvm::dyn_cast<::llvm::ConstantAsMetadata>(node)) {
    // Such a use is in no list.
    unusual_ |=
        outer->getValue()->hasUseList() && !::llvm::isa<::llvm::GlobalValue>(outer->getValue());
    constant(*outer->getValue());
  } else if (const auto* tuple = ::llvm::dyn_cast<::llvm::MDTuple>(node);
             tuple && tuple->isUniqued()) {
    if (is_new(node)) describe_metadata(*node);
  } else if (const auto* distinct = ::llvm::dyn_cast<::llvm::MDTuple>(node)) {
    if (is_new(node)) piece_->nodes.push_back(distinct);
  } else {
    has_debug_info_ = true;
  }
}

// What holds only texts and plain constants is kept once and never changes.
bool PieceReader::is_lasting(const ::llvm::Metadata& node, unsigned depth) {
  if (::llvm::isa<::llvm::MDString>(node) || lasting_.contains(&node)) return true;
  if (const auto* wrapped = ::llvm::dyn_cast<::llvm::ConstantAsMetadata>(&node)) {
    return !wrapped->getValue()->hasUseList();
  }
  const auto* tuple = ::llvm::dyn_cast<::llvm::MDTuple>(&node);
  if (!tuple || !tuple->isUniqued() || !tuple->isResolved() || depth == deepest) return false;
  for (const auto& one : tuple->operands()) {
    if (one && !is_lasting(*one, depth + 1)) return false;
  }
  lasting_.insert(&node);
  return true;
}

void PieceReader::block_address(const ::llvm::BlockAddress& address) {
  if (address.getFunction() != function_) {
    unusual_ = true;
    return;
  }
  local(*address.getBasicBlock());
  for (const auto& use : address.operands()) {
    if (::llvm::isa<::llvm::GlobalValue>(use.get())) constant_use(use);
  }
}

}  // namespace compiler_gym::llvm
