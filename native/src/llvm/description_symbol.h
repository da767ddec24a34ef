// Describes symbols, see description.h.
#pragma once

#include "description.h"
#include "llvm/IR/Comdat.h"

namespace compiler_gym::llvm {

template <class Reader>
void Description<Reader>::describe_symbol(const ::llvm::GlobalValue& symbol) {
  out_.text(symbol.getName());
  self().type(symbol.getValueType());
  self().type(symbol.getType());
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

template <class Reader>
void Description<Reader>::describe_object(const ::llvm::GlobalObject& object,
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
  self().outer_attachments(object);
}

template <class Reader>
void Description<Reader>::describe_variable(const ::llvm::GlobalVariable& variable) {
  describe_object(variable, variable.getAlign());
  const auto attributes = variable.getAttributes();
  out_.word(variable.isConstant() | variable.isExternallyInitialized() << 1 |
            variable.hasInitializer() << 2 | attributes.hasAttributes() << 3 |
            variable.getCodeModelRaw() << 4);
  if (attributes.hasAttributes()) {
    self().attributes(::llvm::AttributeList::get(
        variable.getContext(), 0u, ::llvm::AttrBuilder(variable.getContext(), attributes)));
  }
  if (variable.hasInitializer()) self().outer_use(variable.getOperandUse(0));
}

template <class Reader>
void Description<Reader>::describe_function(const ::llvm::Function& function) {
  describe_object(function, function.getAlign());
  self().attributes(function.getAttributes());
  out_.word(function.getCallingConv() | function.hasGC() << 16 | function.hasPersonalityFn() << 17 |
            function.hasPrefixData() << 18 | function.hasPrologueData() << 19 |
            function.isDeclaration() << 20);
  if (function.hasGC()) out_.text(function.getGC());
  // The three share one operand list, in which missing ones may leave a placeholder.
  if (function.hasPersonalityFn()) self().outer_use(function.getOperandUse(0));
  if (function.hasPrefixData()) self().outer_use(function.getOperandUse(1));
  if (function.hasPrologueData()) self().outer_use(function.getOperandUse(2));
}

}  // namespace compiler_gym::llvm
