#include "fingerprint.h"
#include "compiler_gym/llvm/features.h"
#include "llvm/IR/Comdat.h"
#include "reader.h"

namespace compiler_gym::llvm {
namespace {

// Debug records have some thirty kinds of node with fields of their own. For
// the few programs that carry them the bytes themselves are the description.
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

void Fingerprint::describe(const ::llvm::Module& module) {
  shared_.reset(next_shared_);
  uses_.reset(next_use_);
  next_shared_ = next_use_ = 0;
  instruction_count_ = 0;
  used_constants_.clear();
  recent_types_.fill({});
  out_.text(module.getTargetTriple().str());
  out_.text(module.getDataLayoutStr());
  out_.text(module.getSourceFileName());
  out_.text(module.getModuleInlineAsm());
  // Symbols refer to one another, so all have their numbers before any is described.
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
    if (!function.isDeclaration()) describe_body(function);
  }
  describe_uses_of_constants();
}

void Fingerprint::describe_symbol(const ::llvm::GlobalValue& symbol) {
  out_.text(symbol.getName());
  type(symbol.getValueType());
  type(symbol.getType());
  out_.word(symbol.getLinkage() | symbol.getVisibility() << 5 | symbol.getDLLStorageClass() << 8 |
            symbol.getThreadLocalMode() << 11 |
            static_cast<unsigned>(symbol.getUnnamedAddr()) << 15 | symbol.isDSOLocal() << 18 |
            symbol.hasPartition() << 19 | symbol.hasSanitizerMetadata() << 20);
  if (symbol.hasPartition()) out_.text(symbol.getPartition());
  if (symbol.hasSanitizerMetadata()) {
    const auto& sanitizers = symbol.getSanitizerMetadata();
    out_.word(sanitizers.NoAddress | sanitizers.NoHWAddress << 1 | sanitizers.Memtag << 2 |
              sanitizers.IsDynInit << 3);
  }
}

void Fingerprint::describe_object(const ::llvm::GlobalObject& object,
                                  ::llvm::MaybeAlign alignment) {
  describe_symbol(object);
  const auto* comdat = object.getComdat();
  out_.word((alignment ? 1 + ::llvm::Log2(*alignment) : 0) | object.hasSection() << 8 |
            (comdat != nullptr) << 9);
  if (object.hasSection()) out_.text(object.getSection());
  if (comdat) {
    out_.text(comdat->getName());
    out_.word(comdat->getSelectionKind());
  }
  attachments(object);
}

void Fingerprint::describe_variable(const ::llvm::GlobalVariable& variable) {
  describe_object(variable, variable.getAlign());
  const auto attributes = variable.getAttributes();
  out_.word(variable.isConstant() | variable.isExternallyInitialized() << 1 |
            variable.hasInitializer() << 2 | attributes.hasAttributes() << 3 |
            variable.getCodeModelRaw() << 4);
  if (attributes.hasAttributes()) {
    this->attributes(::llvm::AttributeList::get(
        variable.getContext(), 0u, ::llvm::AttrBuilder(variable.getContext(), attributes)));
  }
  if (variable.hasInitializer()) constant_use(variable.getOperandUse(0));
}

void Fingerprint::describe_function(const ::llvm::Function& function) {
  describe_object(function, function.getAlign());
  attributes(function.getAttributes());
  out_.word(function.getCallingConv() | function.hasGC() << 16 | function.hasPersonalityFn() << 17 |
            function.hasPrefixData() << 18 | function.hasPrologueData() << 19 |
            function.isDeclaration() << 20);
  if (function.hasGC()) out_.text(function.getGC());
  // The three share one operand list, where absent ones may leave a placeholder.
  if (function.hasPersonalityFn()) constant_use(function.getOperandUse(0));
  if (function.hasPrefixData()) constant_use(function.getOperandUse(1));
  if (function.hasPrologueData()) constant_use(function.getOperandUse(2));
}

void Fingerprint::describe_uses_of_constants() {
  for (const auto* value : used_constants_) {
    positions_.clear();
    for (const auto& use : value->uses()) {
      // Constants outlive the code that used them: the walk does not meet those.
      if (const auto* position = uses_.find(&use)) positions_.push_back(*position);
    }
    if (positions_.size() < 2) continue;
    out_.word(*shared_.find(value));
    out_.word(positions_.size());
    for (const auto position : positions_) out_.word(position);
  }
}

}  // namespace compiler_gym::llvm
