#include "typed_pointers.h"

#include "llvm/ADT/Twine.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/raw_ostream.h"

namespace compiler_gym::llvm {

using ::llvm::dyn_cast;
using ::llvm::isa;

namespace {

constexpr int most_steps = 4;  // deeper guesses, for nested lists, are no better than i8*
constexpr const char* unknown = "i8";

}  // namespace

std::string TypedPointers::text(const ::llvm::Type& type) {
  if (type.isPointerTy()) return std::string(unknown) + "*";
  if (const auto found = types_.find(&type); found != types_.end()) return found->second;
  std::string made;
  if (const auto* structure = dyn_cast<::llvm::StructType>(&type)) {
    made = structure_text(*structure);
  } else if (const auto* array = dyn_cast<::llvm::ArrayType>(&type)) {
    made = ("[" + ::llvm::Twine(array->getNumElements()) + " x " + text(*array->getElementType()) +
            "]")
               .str();
  } else if (const auto* vector = dyn_cast<::llvm::FixedVectorType>(&type)) {
    made = ("<" + ::llvm::Twine(vector->getNumElements()) + " x " +
            text(*vector->getElementType()) + ">")
               .str();
  } else if (const auto* function = dyn_cast<::llvm::FunctionType>(&type)) {
    made = function_text(*function);
  } else {
    ::llvm::raw_string_ostream(made) << type;
  }
  return types_[&type] = made;
}

std::string TypedPointers::structure_text(const ::llvm::StructType& type) {
  if (type.isOpaque()) return "opaque";
  if (type.getNumElements() == 0) return "{}";
  std::string made = type.isPacked() ? "<{ " : "{ ";
  const char* comma = "";
  for (const auto* element : type.elements()) {
    made += comma;
    made += text(*element);
    comma = ", ";
  }
  return made + (type.isPacked() ? " }>" : " }");
}

std::string TypedPointers::function_text(const ::llvm::FunctionType& type) {
  std::string made = text(*type.getReturnType()) + " (";
  for (const auto* parameter : type.params()) {
    if (made.back() != '(') made += ", ";
    made += text(*parameter);
  }
  if (type.isVarArg()) made += made.back() == '(' ? "..." : ", ...";
  return made + ")";
}

std::string TypedPointers::type_of(const ::llvm::Value& value) {
  return value.getType()->isPointerTy() ? pointee(value) + "*" : text(*value.getType());
}

std::string TypedPointers::pointee(const ::llvm::Value& value) {
  if (isa<::llvm::ConstantData>(value)) return unknown;  // null is not a place in memory
  if (const auto found = known_.find(&value); found != known_.end()) return found->second;
  if (depth_ >= most_steps) return unknown;
  known_[&value] = unknown;  // ends cycles
  ++depth_;
  auto made = from_origin(value);
  if (made.empty()) made = from_uses(value);
  --depth_;
  return known_[&value] = made.empty() ? unknown : made;
}

std::string TypedPointers::from_origin(const ::llvm::Value& value) {
  if (const auto* local = dyn_cast<::llvm::AllocaInst>(&value)) {
    return content_of(value, *local->getAllocatedType());
  }
  if (const auto* global = dyn_cast<::llvm::GlobalVariable>(&value)) {
    return content_of(value, *global->getValueType());
  }
  if (const auto* function = dyn_cast<::llvm::Function>(&value)) {
    return text(*function->getFunctionType());
  }
  if (const auto* element = dyn_cast<::llvm::GetElementPtrInst>(&value)) {
    return content_of(value, *element->getResultElementType());
  }
  if (const auto* argument = dyn_cast<::llvm::Argument>(&value)) {
    for (auto* held : {argument->getParamByValType(), argument->getParamStructRetType()}) {
      if (held) return text(*held);
    }
  }
  return "";
}

// The pointee of a pointer to `type`: for a pointer to a pointer, its loads and stores are more
// precise.
std::string TypedPointers::content_of(const ::llvm::Value& pointer, const ::llvm::Type& type) {
  if (!type.isPointerTy()) return text(type);
  for (const auto* user : pointer.users()) {
    const auto* load = dyn_cast<::llvm::LoadInst>(user);
    if (load && load->getType()->isPointerTy()) return type_of(*load);
    const auto* store = dyn_cast<::llvm::StoreInst>(user);
    if (store && store->getPointerOperand() == &pointer) {
      const auto* stored = store->getValueOperand();
      if (stored->getType()->isPointerTy() && !isa<::llvm::Constant>(stored)) {
        return type_of(*stored);
      }
    }
  }
  return text(type);
}

std::string TypedPointers::from_uses(const ::llvm::Value& value) {
  for (const auto& use : value.uses()) {
    const auto* user = use.getUser();
    if (const auto* load = dyn_cast<::llvm::LoadInst>(user)) {
      return type_of(*load);
    }
    if (const auto* store = dyn_cast<::llvm::StoreInst>(user)) {
      if (use.getOperandNo() == ::llvm::StoreInst::getPointerOperandIndex()) {
        return type_of(*store->getValueOperand());
      }
      const auto held = pointee(*store->getPointerOperand());
      if (held.size() > 1 && held.back() == '*') return held.substr(0, held.size() - 1);
    } else if (const auto* element = dyn_cast<::llvm::GetElementPtrInst>(user)) {
      if (use.getOperandNo() == 0) return text(*element->getSourceElementType());
    } else if (const auto* call = dyn_cast<::llvm::CallBase>(user)) {
      if (call->isCallee(&use)) return text(*call->getFunctionType());
    }
  }
  if (const auto* phi = dyn_cast<::llvm::PHINode>(&value)) {
    for (const auto& incoming : phi->incoming_values()) {
      const auto found = pointee(*incoming);
      if (found != unknown) return found;
    }
  }
  if (const auto* choice = dyn_cast<::llvm::SelectInst>(&value)) {
    return pointee(*choice->getTrueValue());
  }
  return "";
}

}  // namespace compiler_gym::llvm
