#include "fingerprint.h"

#include "compiler_gym/llvm/features.h"
#include "description_constant.h"
#include "description_function.h"
#include "description_symbol.h"
#include "reader.h"

namespace compiler_gym::llvm {
namespace {

// Debug records have some thirty kinds of node with individual fields. For the few programs that
// contain them, the bytes themselves are the description.
WordStream::Digest digest_of_bitcode(const ::llvm::Module& module) {
  WordStream out;
  out.text(bitcode_of(module));
  return out.finish();
}

}  // namespace

WordStream::Digest Fingerprint::of(const ::llvm::Module& module) {
  has_debug_info_ = module.getNamedMetadata("llvm.dbg.cu") != nullptr;
  if (has_debug_info_) {
    instruction_count_ = count_instructions(module);
  } else {
    describe(module);
    const auto digest = out_.finish();
    if (!has_debug_info_) return digest;
  }
  return digest_of_bitcode(module);
}

WordStream::Digest Fingerprint::of(const ::llvm::Function& function) {
  reset();
  attributes(function.getAttributes());
  describe_body(function);
  return out_.finish();
}

void Fingerprint::reset() {
  shared_.reset(next_shared_);
  uses_.reset(next_use_);
  next_shared_ = next_use_ = 0;
  instruction_count_ = 0;
  used_constants_.clear();
  recent_types_.fill({});
  locals_.reset(next_local_);
  next_local_ = 0;
}

void Fingerprint::describe(const ::llvm::Module& module) {
  reset();
  out_.text(module.getTargetTriple().str());
  out_.text(module.getDataLayoutStr());
  out_.text(module.getSourceFileName());
  out_.text(module.getModuleInlineAsm());
  // Symbols refer to one another, so all are numbered before any is described.
  for (const auto& symbol : module.global_values()) {
    is_new(&symbol);
    if (symbol.hasNUsesOrMore(2)) used_constants_.push_back(&symbol);
  }
  out_.word(module.global_size());
  for (const auto& variable : module.globals()) describe_variable(variable);
  out_.word(module.size());
  for (const auto& function : module) describe_function(function);
  out_.word(module.alias_size());
  for (const auto& alias : module.aliases()) {
    describe_symbol(alias);
    constant_use(alias.getOperandUse(0));
  }
  out_.word(module.ifunc_size());
  for (const auto& ifunc : module.ifuncs()) {
    describe_object(ifunc, std::nullopt);
    constant_use(ifunc.getOperandUse(0));
  }
  out_.word(module.named_metadata_size());
  for (const auto& named : module.named_metadata()) {
    out_.text(named.getName());
    out_.word(named.getNumOperands());
    for (const auto* node : named.operands()) metadata(node);
  }
  for (const auto& function : module) {
    if (function.isDeclaration()) continue;
    auto& expected = expected_locals_[&function];
    locals_.reset(expected);
    next_local_ = 0;
    describe_body(function);
    expected = next_local_;
  }
  describe_uses_of_constants();
}

void Fingerprint::describe_uses_of_constants() {
  for (const auto* value : used_constants_) {
    positions_.clear();
    for (const auto& use : value->uses()) {
      // Constants outlive the code that used them: the walk does not reach those uses.
      if (const auto* position = uses_.find(&use)) positions_.push_back(*position);
    }
    if (positions_.size() < 2) continue;
    out_.word(*shared_.find(value));
    out_.word(positions_.size());
    for (const auto position : positions_) out_.word(position);
  }
}

// Write the number of `key`; return true the first time, so that the caller describes it.
bool Fingerprint::is_new(const void* key) {
  const auto number = shared_.find_or_insert(key, next_shared_);
  out_.word(number * 2 + 1);
  if (number != next_shared_) return false;
  ++next_shared_;
  return true;
}

void Fingerprint::constant(const ::llvm::Value& value) {
  if (!is_new(&value)) return;
  // Symbols of a module have their numbers before anything is described.
  if (const auto* symbol = ::llvm::dyn_cast<::llvm::GlobalValue>(&value)) {
    return out_.text(symbol->getName());
  }
  if (value.hasUseList() && value.hasNUsesOrMore(2)) used_constants_.push_back(&value);
  describe_constant(value);
}

void Fingerprint::constant_use(const ::llvm::Use& use) {
  // Only IR that does not verify lacks an operand.
  if (!use) return out_.word(~0u);
  const ::llvm::Value& value = *use.get();
  if (value.hasUseList()) {
    if (!value.hasOneUse()) uses_.find_or_insert(&use, next_use_);
    ++next_use_;
  }
  constant(value);
}

void Fingerprint::metadata(const ::llvm::Metadata* node) {
  if (!node) {
    out_.word(~0u);
  } else if (const auto* wrapped = ::llvm::dyn_cast<::llvm::LocalAsMetadata>(node)) {
    local(*wrapped->getValue());
  } else if (is_new(node)) {
    describe_metadata(*node);
  }
}

void Fingerprint::type(const ::llvm::Type* type) {
  auto& [recent, number] = recent_types_[reinterpret_cast<std::uintptr_t>(type) / 8 % 64];
  if (recent == type) return out_.word(number);
  if (is_new(type)) out_.digest(digest_of_type(type));
  recent = type;
  number = *shared_.find(type) * 2 + 1;
}

void Fingerprint::attributes(::llvm::AttributeList list) {
  const void* key = list.getRawPointer();
  if (!key) {
    out_.word(~0u);
  } else if (is_new(key)) {
    auto kept = lasting_.find(key);
    if (kept == lasting_.end()) {
      kept = lasting_.try_emplace(key, digest_of_attributes(list)).first;
    }
    out_.digest(kept->second);
  }
}

WordStream::Digest Fingerprint::digest_of_type(const ::llvm::Type* type) {
  if (const auto kept = lasting_.find(type); kept != lasting_.end()) return kept->second;
  WordStream out;
  out.word(type->getTypeID());
  if (const auto* number = ::llvm::dyn_cast<::llvm::IntegerType>(type)) {
    out.word(number->getBitWidth());
  } else if (const auto* pointer = ::llvm::dyn_cast<::llvm::PointerType>(type)) {
    out.word(pointer->getAddressSpace());
  } else if (const auto* vector = ::llvm::dyn_cast<::llvm::VectorType>(type)) {
    out.word(vector->getElementCount().getKnownMinValue());
    // The element is not a contained type of a vector.
    out.digest(digest_of_type(vector->getElementType()));
  } else if (const auto* array = ::llvm::dyn_cast<::llvm::ArrayType>(type)) {
    out.wide(array->getNumElements());
  } else if (const auto* record = ::llvm::dyn_cast<::llvm::StructType>(type)) {
    out.word(record->isLiteral() | record->isPacked() << 1 | record->isOpaque() << 2);
    out.text(record->hasName() ? record->getName() : "");
  } else if (const auto* function = ::llvm::dyn_cast<::llvm::FunctionType>(type)) {
    out.word(function->isVarArg());
  } else if (const auto* foreign = ::llvm::dyn_cast<::llvm::TargetExtType>(type)) {
    out.text(foreign->getName());
    for (const unsigned parameter : foreign->int_params()) out.word(parameter);
  }
  out.word(type->getNumContainedTypes());
  for (const auto* part : type->subtypes()) out.digest(digest_of_type(part));
  return lasting_.try_emplace(type, out.finish()).first->second;
}

WordStream::Digest Fingerprint::digest_of_attributes(::llvm::AttributeList list) {
  WordStream out;
  for (const unsigned index : list.indexes()) {
    const auto set = list.getAttributes(index);
    out.word(index);
    out.word(set.getNumAttributes());
    for (const ::llvm::Attribute one : set) {
      if (one.isTypeAttribute()) {
        out.word(one.getKindAsEnum());
        out.digest(digest_of_type(one.getValueAsType()));
      } else {
        // Printed types may contain addresses; no other attributes do.
        out.text(one.getAsString(/*InAttrGrp=*/true));
      }
    }
  }
  return out.finish();
}

// A block of another function has no number here: its position in that function identifies it.
void Fingerprint::block_address(const ::llvm::BlockAddress& address) {
  auto& function = *address.getFunction();
  is_new(&function);
  out_.word(std::distance(function.begin(), address.getBasicBlock()->getIterator()));
  for (const auto& use : address.operands()) {
    if (::llvm::isa<::llvm::GlobalValue>(use.get())) constant_use(use);
  }
}

}  // namespace compiler_gym::llvm
