#include "compiler_gym/llvm/statements.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "typed_pointers.h"

namespace compiler_gym::llvm {

using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

enum class Numbers { Hidden, Shown };  // statements of some opcodes keep their integers

class StatementWriter {
 public:
  explicit StatementWriter(std::vector<std::string>& out) : out_(out) {}

  void write(const ::llvm::Module& module) {
    for (const auto& global : module.globals()) add(describe(global));
    for (const auto& function : module) {
      if (!function.isDeclaration()) write(function);
    }
  }

 private:
  void add(std::string statement) {
    if (!statement.empty()) out_.push_back(std::move(statement));
  }

  void write(const ::llvm::Function& function) {
    add(header_of(function));
    for (const auto& block : function) {
      if (&block != &function.getEntryBlock()) add(label_of(block));
      for (const auto& instruction : block) add(describe(instruction));
    }
  }

  std::string describe(const ::llvm::GlobalVariable& global);
  std::string header_of(const ::llvm::Function& function);
  std::string label_of(const ::llvm::BasicBlock& block);
  std::string describe(const ::llvm::Instruction& instruction);
  std::string body_of(const ::llvm::Instruction& instruction);
  std::string memory(const ::llvm::Instruction& instruction);
  std::string call(const ::llvm::CallBase& call);
  std::string terminator(const ::llvm::Instruction& instruction);
  std::string vector_or_aggregate(const ::llvm::Instruction& instruction);
  std::string operands(const ::llvm::Instruction& instruction);

  std::string value(const ::llvm::Value& given, Numbers numbers = Numbers::Hidden);
  std::string constant(const ::llvm::Constant& given, Numbers numbers);
  std::string elements(const ::llvm::Constant& given, Numbers numbers);
  std::string expression(const ::llvm::ConstantExpr& given, Numbers numbers);
  std::string typed(const ::llvm::Value& value, Numbers numbers = Numbers::Hidden) {
    return types_.type_of(value) + " " + this->value(value, numbers);
  }
  std::string as(const std::string& type, const ::llvm::Value& given);
  std::string argument(const ::llvm::CallBase& call, unsigned place);

  std::vector<std::string>& out_;
  TypedPointers types_;
};

const char* linkage_of(const ::llvm::GlobalValue& value) {
  switch (value.getLinkage()) {
    case ::llvm::GlobalValue::PrivateLinkage: return "private ";
    case ::llvm::GlobalValue::InternalLinkage: return "internal ";
    case ::llvm::GlobalValue::LinkOnceAnyLinkage: return "linkonce ";
    case ::llvm::GlobalValue::LinkOnceODRLinkage: return "linkonce_odr ";
    case ::llvm::GlobalValue::WeakAnyLinkage: return "weak ";
    case ::llvm::GlobalValue::WeakODRLinkage: return "weak_odr ";
    case ::llvm::GlobalValue::CommonLinkage: return "common ";
    case ::llvm::GlobalValue::AppendingLinkage: return "appending ";
    case ::llvm::GlobalValue::AvailableExternallyLinkage: return "available_externally ";
    case ::llvm::GlobalValue::ExternalWeakLinkage: return "extern_weak ";
    case ::llvm::GlobalValue::ExternalLinkage: return "";
  }
  return "";
}

const char* unnamed_of(const ::llvm::GlobalValue& value) {
  if (value.hasGlobalUnnamedAddr()) return "unnamed_addr";
  return value.hasAtLeastLocalUnnamedAddr() ? "local_unnamed_addr" : "";
}

std::string align_of(::llvm::MaybeAlign align) {
  return align ? ", align " + std::to_string(align->value()) : "";
}

// The attributes that existed when the vocabulary was made, in the order it used.
std::string attributes_of(const ::llvm::AttributeSet& set) {
  using ::llvm::Attribute;
  constexpr std::pair<Attribute::AttrKind, const char*> known[] = {
      {Attribute::ByVal, "byval"},       {Attribute::InReg, "inreg"},
      {Attribute::NoAlias, "noalias"},   {Attribute::NonNull, "nonnull"},
      {Attribute::ReadNone, "readnone"}, {Attribute::ReadOnly, "readonly"},
      {Attribute::Returned, "returned"}, {Attribute::SExt, "signext"},
      {Attribute::StructRet, "sret"},    {Attribute::ZExt, "zeroext"},
  };
  std::string text;
  for (const auto& [kind, name] : known) {
    if (set.hasAttribute(kind)) text += std::string(name) + " ";
    if (kind == Attribute::NoAlias && set.hasAttribute(Attribute::Captures) &&
        ::llvm::capturesNothing(set.getCaptureInfo())) {
      text += "nocapture ";
    }
  }
  return text;
}

std::string flags_of(const ::llvm::Instruction& instruction) {
  std::string text;
  if (const auto* fp = dyn_cast<::llvm::FPMathOperator>(&instruction)) {
    if (fp->isFast()) return "fast ";
    const std::pair<bool, const char*> flags[] = {
        {fp->hasAllowReassoc(), "reassoc "}, {fp->hasNoNaNs(), "nnan "},
        {fp->hasNoInfs(), "ninf "},          {fp->hasNoSignedZeros(), "nsz "},
        {fp->hasAllowReciprocal(), "arcp "}, {fp->hasAllowContract(), "contract "}};
    for (const auto& [is_set, name] : flags) text += is_set ? name : "";
  }
  if (const auto* wrapping = dyn_cast<::llvm::OverflowingBinaryOperator>(&instruction)) {
    text += wrapping->hasNoUnsignedWrap() ? "nuw " : "";
    text += wrapping->hasNoSignedWrap() ? "nsw " : "";
  }
  const auto* exact = dyn_cast<::llvm::PossiblyExactOperator>(&instruction);
  return text + (exact && exact->isExact() ? "exact " : "");
}

std::string StatementWriter::describe(const ::llvm::GlobalVariable& global) {
  std::string text = std::string("<@ID> = ") + linkage_of(global);
  if (global.isDeclaration() && global.hasExternalLinkage()) text += "external ";
  if (global.isThreadLocal()) text += "thread_local ";
  const std::string unnamed = unnamed_of(global);
  text += unnamed.empty() ? "" : unnamed + " ";
  text += global.isConstant() ? "constant " : "global ";
  text += types_.text(*global.getValueType());
  if (global.hasInitializer()) {
    const auto* data = dyn_cast<::llvm::ConstantDataSequential>(global.getInitializer());
    text += data && data->isString() ? " <STRING>"
                                     : " " + constant(*global.getInitializer(), Numbers::Hidden);
  }
  if (global.hasComdat()) text += ", comdat";
  return text + align_of(global.getAlign());
}

std::string StatementWriter::header_of(const ::llvm::Function& function) {
  std::string text = std::string("define ") + linkage_of(function);
  text += attributes_of(function.getAttributes().getRetAttrs());
  text += types_.text(*function.getReturnType()) + " <@ID>(";
  for (const auto& argument : function.args()) {
    if (argument.getArgNo() > 0) text += ", ";
    text += types_.type_of(argument);
    const auto attributes =
        attributes_of(function.getAttributes().getParamAttrs(argument.getArgNo()));
    if (!attributes.empty()) text.append(" ").append(attributes, 0, attributes.size() - 1);
  }
  if (function.isVarArg()) text += function.arg_empty() ? "..." : ", ...";
  const std::string unnamed = unnamed_of(function);
  return text + ")" + (unnamed.empty() ? "" : " " + unnamed);
}

std::string StatementWriter::label_of(const ::llvm::BasicBlock& block) {
  std::string text = "; <label>:<LABEL>:";
  const char* comma = " ; preds = ";
  for (std::size_t i = ::llvm::pred_size(&block); i > 0; --i) {
    text += std::string(comma) + "<LABEL>";
    comma = ", ";
  }
  return text;
}

std::string StatementWriter::describe(const ::llvm::Instruction& instruction) {
  const auto* call = dyn_cast<::llvm::CallBase>(&instruction);
  if (call && call->isInlineAsm() && call->getType()->isVoidTy()) return "";
  if (isa<::llvm::DbgInfoIntrinsic>(instruction)) return "";
  const auto body = body_of(instruction);
  return (instruction.getType()->isVoidTy() ? "" : "<%ID> = ") + body;
}

std::string StatementWriter::body_of(const ::llvm::Instruction& instruction) {
  const std::string name = instruction.getOpcodeName();
  if (const auto* one = dyn_cast<::llvm::CallBase>(&instruction)) return call(*one);
  if (instruction.isTerminator()) return terminator(instruction);
  if (isa<::llvm::BinaryOperator>(instruction)) {
    return name + " " + flags_of(instruction) + typed(*instruction.getOperand(0)) + ", " +
           value(*instruction.getOperand(1));
  }
  if (const auto* cast = dyn_cast<::llvm::CastInst>(&instruction)) {
    return name + " " + typed(*cast->getOperand(0)) + " to " + types_.type_of(*cast);
  }
  if (const auto* compare = dyn_cast<::llvm::CmpInst>(&instruction)) {
    const auto predicate = ::llvm::CmpInst::getPredicateName(compare->getPredicate()).str();
    // A pointer is compared as its pointee type, which may come from either side.
    const auto& left = *compare->getOperand(0);
    return name + " " + flags_of(instruction) + predicate + " " + typed(left) + ", " +
           value(*compare->getOperand(1));
  }
  if (const auto* phi = dyn_cast<::llvm::PHINode>(&instruction)) {
    std::string text = "phi " + types_.type_of(*phi) + " ";
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      text += i ? ", " : "";
      text += "[ " + value(*phi->getIncomingValue(i), Numbers::Shown) + ", <%ID> ]";
    }
    return text;
  }
  if (const auto* choice = dyn_cast<::llvm::SelectInst>(&instruction)) {
    const auto type = types_.type_of(*choice);
    return "select " + typed(*choice->getCondition()) + ", " + as(type, *choice->getTrueValue()) +
           ", " + as(type, *choice->getFalseValue());
  }
  const auto text = memory(instruction);
  return text.empty() ? vector_or_aggregate(instruction) : text;
}

std::string StatementWriter::memory(const ::llvm::Instruction& instruction) {
  if (const auto* local = dyn_cast<::llvm::AllocaInst>(&instruction)) {
    const auto pointer = types_.type_of(*local);
    std::string text = "alloca " + pointer.substr(0, pointer.size() - 1);
    if (local->isArrayAllocation()) text += ", " + typed(*local->getArraySize());
    return text + align_of(local->getAlign());
  }
  if (const auto* load = dyn_cast<::llvm::LoadInst>(&instruction)) {
    const auto type = types_.type_of(*load);
    return std::string("load ") + (load->isAtomic() ? "atomic " : "") +
           (load->isVolatile() ? "volatile " : "") + type + ", " +
           as(type + "*", *load->getPointerOperand()) + align_of(load->getAlign());
  }
  if (const auto* store = dyn_cast<::llvm::StoreInst>(&instruction)) {
    const auto& stored = *store->getValueOperand();
    // A null or a function that is stored has the pointee type of the destination.
    auto type = types_.type_of(stored);
    if (stored.getType()->isPointerTy() && isa<::llvm::Constant>(stored)) {
      const auto place = types_.type_of(*store->getPointerOperand());
      if (place.size() > 2 && place.ends_with("**")) type = place.substr(0, place.size() - 1);
    }
    return std::string("store ") + (store->isAtomic() ? "atomic " : "") +
           (store->isVolatile() ? "volatile " : "") + as(type, stored) + ", " +
           as(type + "*", *store->getPointerOperand()) + align_of(store->getAlign());
  }
  if (const auto* element = dyn_cast<::llvm::GetElementPtrInst>(&instruction)) {
    const auto type = types_.text(*element->getSourceElementType());
    std::string text = std::string("getelementptr ") + (element->isInBounds() ? "inbounds " : "") +
                       type + ", " + as(type + "*", *element->getPointerOperand());
    for (const auto& index : element->indices()) text += ", " + typed(*index);
    return text;
  }
  return "";
}

std::string StatementWriter::call(const ::llvm::CallBase& call) {
  std::string text;
  if (isa<::llvm::LifetimeIntrinsic>(call)) {  // it used to have a size operand
    return "call void <@ID>(i64 <INT>, i8* nonnull <%ID>)";
  }
  if (const auto* plain = dyn_cast<::llvm::CallInst>(&call)) {
    text += plain->isMustTailCall() ? "musttail " : plain->isTailCall() ? "tail " : "";
  }
  text += std::string(call.getOpcodeName()) + " " + flags_of(call);
  text += attributes_of(call.getAttributes().getRetAttrs());
  const auto& type = *call.getFunctionType();
  text += type.isVarArg()              ? types_.text(type)
          : call.getType()->isVoidTy() ? "void"
                                       : types_.type_of(call);
  text +=
      call.isInlineAsm() ? " asm <STRING>, <STRING>(" : " " + value(*call.getCalledOperand()) + "(";
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    text += (i ? ", " : "") + argument(call, i);
    // The alignment was an operand before the last one, the volatile flag.
    if (isa<::llvm::MemIntrinsic>(call) && i == 2) text += ", i32 <INT>";
  }
  text += ")";
  if (isa<::llvm::InvokeInst>(call)) text += "\n to label <%ID> unwind label <%ID>";
  return text;
}

std::string StatementWriter::argument(const ::llvm::CallBase& call, unsigned place) {
  const auto& given = *call.getArgOperand(place);
  if (isa<::llvm::MetadataAsValue>(given)) return "metadata";
  const auto attributes = attributes_of(call.getAttributes().getParamAttrs(place));
  const auto* callee = call.getCalledFunction();
  std::string type = types_.type_of(given);
  if (given.getType()->isPointerTy() && callee && place < callee->arg_size()) {
    type = types_.type_of(*callee->getArg(place));
  }
  const auto written = as(type, given);
  return attributes.empty() ? written : type + " " + attributes + written.substr(type.size() + 1);
}

std::string StatementWriter::terminator(const ::llvm::Instruction& instruction) {
  if (const auto* branch = dyn_cast<::llvm::BranchInst>(&instruction)) {
    if (branch->isUnconditional()) return "br label <%ID>";
    return "br " + typed(*branch->getCondition()) + ", label <%ID>, label <%ID>";
  }
  if (const auto* result = dyn_cast<::llvm::ReturnInst>(&instruction)) {
    return result->getReturnValue() ? "ret " + typed(*result->getReturnValue()) : "ret void";
  }
  if (const auto* choice = dyn_cast<::llvm::SwitchInst>(&instruction)) {
    std::string text = "switch " + typed(*choice->getCondition()) + ", label <%ID> [";
    const auto type = types_.type_of(*choice->getCondition());
    for (unsigned i = 0; i < choice->getNumCases(); ++i) {
      text += "\n " + type + " <INT>, label <%ID>";
    }
    return text + "]";
  }
  return operands(instruction);
}

std::string StatementWriter::vector_or_aggregate(const ::llvm::Instruction& instruction) {
  const std::string name = instruction.getOpcodeName();
  const auto indices = [](::llvm::ArrayRef<unsigned> places) {
    std::string text;
    for (const auto place : places) text += ", " + std::to_string(place);
    return text;
  };
  if (const auto* part = dyn_cast<::llvm::ExtractValueInst>(&instruction)) {
    return name + " " + typed(*part->getAggregateOperand(), Numbers::Shown) +
           indices(part->getIndices());
  }
  if (const auto* part = dyn_cast<::llvm::InsertValueInst>(&instruction)) {
    return name + " " + typed(*part->getAggregateOperand(), Numbers::Shown) + ", " +
           typed(*part->getInsertedValueOperand(), Numbers::Shown) + indices(part->getIndices());
  }
  if (const auto* pad = dyn_cast<::llvm::LandingPadInst>(&instruction)) {
    std::string text = "landingpad " + types_.text(*pad->getType());
    if (pad->isCleanup()) text += "\n cleanup";
    for (unsigned i = 0; i < pad->getNumClauses(); ++i) {
      const auto& clause = *pad->getClause(i);
      text += pad->isCatch(i) ? "\n catch " + as("i8*", clause) : "\n filter " + typed(clause);
    }
    return text;
  }
  if (isa<::llvm::ExtractElementInst, ::llvm::InsertElementInst>(instruction)) {
    std::string text = name;
    const auto last = instruction.getNumOperands() - 1;
    for (unsigned i = 0; i <= last; ++i) {
      const auto& operand = *instruction.getOperand(i);
      const bool is_number = operand.getType()->isIntegerTy();
      text += (i ? ", " : " ") + (is_number ? "<TYP> " + value(operand, Numbers::Shown)
                                            : typed(operand, Numbers::Shown));
    }
    return text;
  }
  return operands(instruction);
}

// The plain form: the opcode, then every operand with its type.
std::string StatementWriter::operands(const ::llvm::Instruction& instruction) {
  std::string text = instruction.getOpcodeName();
  const char* before = " ";
  for (const auto& operand : instruction.operands()) {
    text += before;
    text += isa<::llvm::BasicBlock>(*operand.get()) ? "label <%ID>" : typed(*operand);
    before = ", ";
  }
  return text;
}

// A value where `type` is expected. Former constant casts are written as casts again.
std::string StatementWriter::as(const std::string& type, const ::llvm::Value& given) {
  const auto* global = dyn_cast<::llvm::GlobalValue>(&given);
  const auto own = types_.type_of(given);
  if (!global || own == type) return type + " " + value(given);
  const auto* array = dyn_cast<::llvm::ArrayType>(global->getValueType());
  if (array && types_.text(*array->getElementType()) + "*" == type) {
    return type + " getelementptr inbounds (" + types_.text(*array) + ", " + own +
           " <@ID>, i32 <INT>, i32 <INT>)";
  }
  return type + " bitcast (" + own + " <@ID> to " + type + ")";
}

std::string StatementWriter::value(const ::llvm::Value& given, Numbers numbers) {
  if (isa<::llvm::GlobalValue>(given)) return "<@ID>";
  if (const auto* known = dyn_cast<::llvm::Constant>(&given)) return constant(*known, numbers);
  return isa<::llvm::InlineAsm>(given) ? "asm" : "<%ID>";
}

std::string StatementWriter::constant(const ::llvm::Constant& given, Numbers numbers) {
  if (isa<::llvm::GlobalValue>(given)) return "<@ID>";
  if (const auto* number = dyn_cast<::llvm::ConstantInt>(&given)) {
    if (number->getType()->isIntegerTy(1)) return number->isOne() ? "true" : "false";
    if (numbers == Numbers::Hidden) return "<INT>";
    ::llvm::SmallString<24> digits;
    number->getValue().toStringSigned(digits);
    return digits.str().str();
  }
  if (isa<::llvm::ConstantFP>(given)) return "<FLOAT>";
  if (isa<::llvm::ConstantPointerNull>(given)) return "null";
  if (isa<::llvm::UndefValue>(given)) return "undef";  // also poison, which is newer
  if (given.isNullValue()) return "zeroinitializer";
  if (const auto* expression = dyn_cast<::llvm::ConstantExpr>(&given)) {
    return this->expression(*expression, numbers);
  }
  return elements(given, numbers);
}

std::string StatementWriter::elements(const ::llvm::Constant& given, Numbers numbers) {
  const auto* type = given.getType();
  const bool packed = type->isStructTy() && ::llvm::cast<::llvm::StructType>(type)->isPacked();
  const std::string open = type->isArrayTy()    ? "["
                           : type->isVectorTy() ? "<"
                           : packed             ? "<{ "
                                                : "{ ";
  const std::string close = type->isArrayTy()    ? "]"
                            : type->isVectorTy() ? ">"
                            : packed             ? " }>"
                                                 : " }";
  if (const auto* data = dyn_cast<::llvm::ConstantDataSequential>(&given)) {
    const std::string one = types_.text(*data->getElementType()) +
                            (data->getElementType()->isIntegerTy() ? " <INT>" : " <FLOAT>");
    std::string text = open;
    for (unsigned i = 0; i < data->getNumElements(); ++i) text += (i ? ", " : "") + one;
    return text + close;
  }
  std::string text = open;
  for (unsigned i = 0; i < given.getNumOperands(); ++i) {
    const auto* part = dyn_cast<::llvm::Constant>(given.getOperand(i));
    if (!part) return "zeroinitializer";  // the address of a block
    text += (i ? ", " : "") + types_.type_of(*part) + " " + constant(*part, numbers);
  }
  return text + close;
}

std::string StatementWriter::expression(const ::llvm::ConstantExpr& given, Numbers numbers) {
  const std::string name = given.getOpcodeName();
  if (const auto* element = dyn_cast<::llvm::GEPOperator>(&given)) {
    const auto type = types_.text(*element->getSourceElementType());
    std::string text = name + (element->isInBounds() ? " inbounds (" : " (") + type + ", " +
                       as(type + "*", *element->getPointerOperand());
    for (const auto& index : element->indices()) text += ", " + typed(*index, numbers);
    return text + ")";
  }
  if (given.isCast()) {
    return name + " (" + typed(*given.getOperand(0), numbers) + " to " +
           types_.text(*given.getType()) + ")";
  }
  std::string text = name + " (";
  for (unsigned i = 0; i < given.getNumOperands(); ++i) {
    text += (i ? ", " : "") + typed(*given.getOperand(i), numbers);
  }
  return text + ")";
}

}  // namespace

std::vector<std::string> write_statements(const ::llvm::Module& module) {
  std::vector<std::string> statements;
  StatementWriter(statements).write(module);
  return statements;
}

}  // namespace compiler_gym::llvm
