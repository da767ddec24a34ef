#include "fingerprint.h"

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Operator.h"

namespace compiler_gym::llvm {

using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

#define LLVM_FIXED_MD_KIND(Enum, Name, Value) +1
constexpr unsigned fixed_kinds = 0
#include "llvm/IR/FixedMetadataKinds.def"
    ;
#undef LLVM_FIXED_MD_KIND

void describe_number(WordStream& out, const ::llvm::APInt& number) {
  out.word(number.getBitWidth());
  for (unsigned at = 0; at < number.getNumWords(); ++at) out.wide(number.getRawData()[at]);
}

void describe_range(WordStream& out, const ::llvm::ConstantRange& range) {
  describe_number(out, range.getLower());
  describe_number(out, range.getUpper());
}

}  // namespace

// Write the number of `key`; true when it is the first time, so that the caller
// describes it.
bool Fingerprint::is_new(const void* key) {
  const auto number = shared_.find_or_insert(key, next_shared_);
  out_.word(number * 2 + 1);
  if (number != next_shared_) return false;
  ++next_shared_;
  return true;
}

void Fingerprint::constant(const ::llvm::Value& value) {
  if (!is_new(&value)) return;
  if (value.hasUseList() && value.hasNUsesOrMore(2)) used_constants_.push_back(&value);
  describe_constant(value);
}

void Fingerprint::constant_use(const ::llvm::Use& use) {
  // Only IR that does not verify leaves an operand out.
  if (!use) return out_.word(~0u);
  const ::llvm::Value& value = *use.get();
  if (value.hasUseList()) {
    if (!value.hasOneUse()) uses_.find_or_insert(&use, next_use_);
    ++next_use_;
  }
  constant(value);
}

void Fingerprint::describe_constant(const ::llvm::Value& value) {
  out_.word(value.getValueID());
  type(value.getType());
  if (const auto* number = dyn_cast<::llvm::ConstantInt>(&value)) {
    describe_number(out_, number->getValue());
  } else if (const auto* real = dyn_cast<::llvm::ConstantFP>(&value)) {
    describe_number(out_, real->getValueAPF().bitcastToAPInt());
  } else if (const auto* data = dyn_cast<::llvm::ConstantDataSequential>(&value)) {
    out_.text(data->getRawDataValues());
  } else if (const auto* code = dyn_cast<::llvm::InlineAsm>(&value)) {
    out_.text(code->getAsmString());
    out_.text(code->getConstraintString());
    type(code->getFunctionType());
    out_.word(code->hasSideEffects() | code->isAlignStack() << 1 | code->canThrow() << 2 |
              code->getDialect() << 3);
  } else if (const auto* address = dyn_cast<::llvm::BlockAddress>(&value)) {
    // A block of another function has no number here: its place in that function does.
    auto& function = *address->getFunction();
    is_new(&function);
    out_.word(std::distance(function.begin(), address->getBasicBlock()->getIterator()));
    for (const auto& use : address->operands()) {
      if (isa<::llvm::GlobalValue>(use.get())) constant_use(use);
    }
  } else if (const auto* user = dyn_cast<::llvm::User>(&value)) {
    if (const auto* expression = dyn_cast<::llvm::ConstantExpr>(user)) {
      describe_expression(*expression);
    }
    out_.word(user->getNumOperands());
    for (const auto& use : user->operands()) constant_use(use);
  }
}

void Fingerprint::describe_expression(const ::llvm::ConstantExpr& expression) {
  out_.word(expression.getOpcode() | expression.getRawSubclassOptionalData() << 8);
  if (const auto* address = dyn_cast<::llvm::GEPOperator>(&expression)) {
    type(address->getSourceElementType());
    const auto range = address->getInRange();
    out_.word(range.has_value());
    if (range) describe_range(out_, *range);
  } else if (expression.getOpcode() == ::llvm::Instruction::ShuffleVector) {
    for (const int lane : expression.getShuffleMask()) out_.word(lane);
  }
}

void Fingerprint::metadata(const ::llvm::Metadata* node) {
  if (!node) {
    out_.word(~0u);
  } else if (const auto* wrapped = dyn_cast<::llvm::LocalAsMetadata>(node)) {
    local(*wrapped->getValue());
  } else if (is_new(node)) {
    describe_metadata(*node);
  }
}

void Fingerprint::describe_metadata(const ::llvm::Metadata& node) {
  out_.word(node.getMetadataID());
  if (const auto* text = dyn_cast<::llvm::MDString>(&node)) {
    out_.text(text->getString());
  } else if (const auto* wrapped = dyn_cast<::llvm::ConstantAsMetadata>(&node)) {
    constant(*wrapped->getValue());
  } else if (const auto* tuple = dyn_cast<::llvm::MDTuple>(&node)) {
    out_.word(tuple->isDistinct() | tuple->getNumOperands() << 1);
    for (const auto& one : tuple->operands()) metadata(one.get());
  } else {
    has_debug_info_ = true;
  }
}

template <class Owner>
void Fingerprint::attachments(const Owner& owner) {
  ::llvm::SmallVector<std::pair<unsigned, ::llvm::MDNode*>, 4> nodes;
  if constexpr (std::is_same_v<Owner, ::llvm::Instruction>) {
    owner.getAllMetadataOtherThanDebugLoc(nodes);
  } else {
    owner.getAllMetadata(nodes);
  }
  out_.word(nodes.size());
  for (const auto& [kind, node] : nodes) {
    attachment_kind(kind, owner.getContext());
    metadata(node);
  }
}

// Kinds that LLVM does not know by heart are numbered as a context meets them.
void Fingerprint::attachment_kind(unsigned kind, const ::llvm::LLVMContext& context) {
  if (kind < fixed_kinds) return out_.word(kind);
  ::llvm::SmallVector<::llvm::StringRef, 64> names;
  context.getMDKindNames(names);
  out_.word(~0u);
  out_.text(names[kind]);
}

template void Fingerprint::attachments(const ::llvm::Instruction&);
template void Fingerprint::attachments(const ::llvm::GlobalObject&);

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
  if (const auto* number = dyn_cast<::llvm::IntegerType>(type)) {
    out.word(number->getBitWidth());
  } else if (const auto* pointer = dyn_cast<::llvm::PointerType>(type)) {
    out.word(pointer->getAddressSpace());
  } else if (const auto* vector = dyn_cast<::llvm::VectorType>(type)) {
    out.word(vector->getElementCount().getKnownMinValue());
    // The element is no contained type of a vector.
    out.digest(digest_of_type(vector->getElementType()));
  } else if (const auto* array = dyn_cast<::llvm::ArrayType>(type)) {
    out.wide(array->getNumElements());
  } else if (const auto* record = dyn_cast<::llvm::StructType>(type)) {
    out.word(record->isLiteral() | record->isPacked() << 1 | record->isOpaque() << 2);
    out.text(record->hasName() ? record->getName() : "");
  } else if (const auto* function = dyn_cast<::llvm::FunctionType>(type)) {
    out.word(function->isVarArg());
  } else if (const auto* foreign = dyn_cast<::llvm::TargetExtType>(type)) {
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
        // Printed types may hold addresses; nothing else does.
        out.text(one.getAsString(/*InAttrGrp=*/true));
      }
    }
  }
  return out.finish();
}

}  // namespace compiler_gym::llvm
