#include "compiler_gym/llvm/function_shapes.h"

#include "flat_table.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "word_stream.h"

namespace compiler_gym::llvm {

using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

// The last two bits of a word for an operand tell its kind.
constexpr std::uint32_t local_operand = 0;
constexpr std::uint32_t symbol_operand = 1;
constexpr std::uint32_t other_operand = 2;
constexpr std::uint32_t constant_operand = other_operand;
constexpr std::uint32_t metadata_operand = other_operand | 1 << 2;
constexpr std::uint32_t assembly_operand = other_operand | 2 << 2;
constexpr std::uint32_t intrinsic_operand = other_operand | 3 << 2;
constexpr std::uint32_t missing_operand = other_operand | 4 << 2;
constexpr std::uint32_t start_of_block = other_operand | 5 << 2;

// A string or a table without a name in the source: a constant, wherever it lies.
bool is_literal(const ::llvm::GlobalValue& value) {
  const auto* variable = dyn_cast<::llvm::GlobalVariable>(&value);
  return variable && variable->isConstant() && variable->hasLocalLinkage() &&
         variable->hasGlobalUnnamedAddr();
}

class ShapeReader {
 public:
  std::int64_t shape_of(const ::llvm::Function& function) {
    locals_.reset(next_local_);
    symbols_.reset(next_symbol_);
    next_local_ = next_symbol_ = 0;
    count_ = 0;
    type(function.getFunctionType());
    for (const auto& argument : function.args()) local(argument);
    for (const auto& block : function) {
      out_.word(start_of_block);
      local(block);
      for (const auto& instruction : block) {
        if (isa<::llvm::DbgInfoIntrinsic, ::llvm::PseudoProbeInst>(instruction)) continue;
        ++count_;
        describe(instruction);
      }
    }
    return static_cast<std::int64_t>(out_.finish()[0]);
  }

  std::int64_t instructions() const { return count_; }

 private:
  void describe(const ::llvm::Instruction& instruction) {
    out_.word(instruction.getOpcode() | instruction.getNumOperands() << 8);
    local(instruction);
    type(instruction.getType());
    for (const auto& use : instruction.operands()) operand(use.get());
    switch (instruction.getOpcode()) {
      case ::llvm::Instruction::Alloca:
        type(::llvm::cast<::llvm::AllocaInst>(instruction).getAllocatedType());
        break;
      case ::llvm::Instruction::Load: access(::llvm::cast<::llvm::LoadInst>(instruction)); break;
      case ::llvm::Instruction::Store: access(::llvm::cast<::llvm::StoreInst>(instruction)); break;
      case ::llvm::Instruction::Fence:
        out_.word(
            static_cast<unsigned>(::llvm::cast<::llvm::FenceInst>(instruction).getOrdering()));
        break;
      case ::llvm::Instruction::AtomicCmpXchg: {
        const auto& exchange = ::llvm::cast<::llvm::AtomicCmpXchgInst>(instruction);
        out_.word(exchange.isVolatile() | exchange.isWeak() << 1 |
                  static_cast<unsigned>(exchange.getSuccessOrdering()) << 4 |
                  static_cast<unsigned>(exchange.getFailureOrdering()) << 8);
        break;
      }
      case ::llvm::Instruction::AtomicRMW: {
        const auto& update = ::llvm::cast<::llvm::AtomicRMWInst>(instruction);
        access(update);
        out_.word(update.getOperation());
        break;
      }
      case ::llvm::Instruction::ICmp:
      case ::llvm::Instruction::FCmp:
        out_.word(::llvm::cast<::llvm::CmpInst>(instruction).getPredicate());
        break;
      case ::llvm::Instruction::GetElementPtr:
        type(::llvm::cast<::llvm::GetElementPtrInst>(instruction).getSourceElementType());
        break;
      case ::llvm::Instruction::PHI:
        for (const auto* block : ::llvm::cast<::llvm::PHINode>(instruction).blocks()) local(*block);
        break;
      case ::llvm::Instruction::Call:
      case ::llvm::Instruction::Invoke:
      case ::llvm::Instruction::CallBr: {
        const auto& call = ::llvm::cast<::llvm::CallBase>(instruction);
        type(call.getFunctionType());
        out_.word(call.getNumOperandBundles());
        break;
      }
      default: break;
    }
  }

  template <class Access>
  void access(const Access& access) {
    out_.word(access.isVolatile() | static_cast<unsigned>(access.getOrdering()) << 1);
  }

  void operand(const ::llvm::Value* value) {
    if (!value) {
      out_.word(missing_operand);
    } else if (isa<::llvm::Instruction, ::llvm::Argument, ::llvm::BasicBlock>(value)) {
      local(*value);
    } else if (isa<::llvm::MetadataAsValue>(value)) {
      out_.word(metadata_operand);
    } else if (const auto* assembly = dyn_cast<::llvm::InlineAsm>(value)) {
      out_.word(assembly_operand);
      out_.text(assembly->getAsmString());
      out_.text(assembly->getConstraintString());
    } else if (const auto* function = dyn_cast<::llvm::Function>(value);
               function && function->isIntrinsic()) {
      out_.word(intrinsic_operand);
      out_.text(::llvm::Intrinsic::getBaseName(function->getIntrinsicID()));
    } else if (const auto* symbol = symbol_in(*value)) {
      const auto number = symbols_.find_or_insert(symbol, next_symbol_);
      next_symbol_ += number == next_symbol_;
      out_.word(number << 2 | symbol_operand);
    } else {
      out_.word(constant_operand);
      type(value->getType());
    }
  }

  // The symbol whose address, or part, a constant is.
  static const ::llvm::GlobalValue* symbol_in(const ::llvm::Value& value) {
    if (!value.getType()->isPointerTy()) return nullptr;
    const auto* symbol = dyn_cast<::llvm::GlobalValue>(value.stripInBoundsConstantOffsets());
    return symbol && !is_literal(*symbol) ? symbol : nullptr;
  }

  // Number by first mention.
  void local(const ::llvm::Value& value) {
    const auto number = locals_.find_or_insert(&value, next_local_);
    next_local_ += number == next_local_;
    out_.word(number << 2 | local_operand);
  }

  void type(const ::llvm::Type* type) { out_.digest(digest_of(type)); }

  WordStream::Digest digest_of(const ::llvm::Type* type) {
    if (const auto kept = types_.find(type); kept != types_.end()) return kept->second;
    WordStream out;
    out.word(type->getTypeID());
    if (const auto* number = dyn_cast<::llvm::IntegerType>(type)) {
      out.word(number->getBitWidth());
    } else if (const auto* pointer = dyn_cast<::llvm::PointerType>(type)) {
      out.word(pointer->getAddressSpace());
    } else if (const auto* vector = dyn_cast<::llvm::VectorType>(type)) {
      out.word(vector->getElementCount().getKnownMinValue());
      out.digest(digest_of(vector->getElementType()));
    } else if (const auto* function = dyn_cast<::llvm::FunctionType>(type)) {
      out.word(function->isVarArg());
    } else if (const auto* foreign = dyn_cast<::llvm::TargetExtType>(type)) {
      out.text(foreign->getName());
    }
    out.word(type->getNumContainedTypes());
    for (const auto* part : type->subtypes()) out.digest(digest_of(part));
    return types_.try_emplace(type, out.finish()).first->second;
  }

  WordStream out_;
  FlatTable locals_;
  FlatTable symbols_;
  std::uint32_t next_local_ = 0;
  std::uint32_t next_symbol_ = 0;
  std::int64_t count_ = 0;
  ::llvm::DenseMap<const ::llvm::Type*, WordStream::Digest> types_;
};

}  // namespace

FunctionShapes function_shapes(const ::llvm::Module& module) {
  FunctionShapes out;
  ShapeReader reader;
  for (const auto& function : module) {
    if (function.isDeclaration()) continue;
    out.names.emplace_back(function.getName());
    out.shapes.push_back(reader.shape_of(function));
    out.instructions.push_back(reader.instructions());
    out.is_odr.push_back(function.hasLinkOnceLinkage() || function.hasWeakODRLinkage() ||
                         function.hasAvailableExternallyLinkage());
  }
  return out;
}

}  // namespace compiler_gym::llvm
