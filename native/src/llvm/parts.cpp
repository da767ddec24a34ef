#include "parts.h"

#include <map>
#include <set>

#include "compiler_gym/llvm/errors.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace compiler_gym::llvm {
namespace {

constexpr char notes_name[] = "compiler_gym.parts";
constexpr std::int64_t declared = -1;

using Number = std::uint64_t;
using Homes = std::map<const ::llvm::GlobalValue*, Number>;

::llvm::Metadata* number(::llvm::LLVMContext& context, std::int64_t value) {
  auto* type = ::llvm::Type::getInt64Ty(context);
  return ::llvm::ConstantAsMetadata::get(::llvm::ConstantInt::getSigned(type, value));
}

::llvm::Metadata* text(::llvm::LLVMContext& context, ::llvm::StringRef value) {
  return ::llvm::MDString::get(context, value);
}

std::int64_t number_at(const ::llvm::MDNode& node, unsigned at) {
  if (at >= node.getNumOperands()) return declared;
  const auto* found =
      ::llvm::mdconst::dyn_extract_or_null<::llvm::ConstantInt>(node.getOperand(at));
  return found && found->getBitWidth() == 64 ? found->getSExtValue() : declared;
}

::llvm::StringRef text_at(const ::llvm::MDNode& node, unsigned at) {
  if (at >= node.getNumOperands()) return "";
  const auto* found = ::llvm::dyn_cast_or_null<::llvm::MDString>(node.getOperand(at));
  return found ? found->getString() : "";
}

// Put a variable that holds addresses of blocks into the part of the one function.
void follow(::llvm::BlockAddress* address, Number home, Homes& homes) {
  std::vector<::llvm::User*> users(address->user_begin(), address->user_end());
  while (!users.empty()) {
    auto* user = users.back();
    users.pop_back();
    const ::llvm::GlobalValue* holder = ::llvm::dyn_cast<::llvm::GlobalVariable>(user);
    if (const auto* instruction = ::llvm::dyn_cast<::llvm::Instruction>(user)) {
      holder = instruction->getFunction();
    } else if (!holder) {
      users.insert(users.end(), user->user_begin(), user->user_end());
      continue;
    }
    const auto [at, is_new] = homes.emplace(holder, home);
    if (!is_new && at->second != home) {
      throw InitError("cannot split: " + holder->getName().str() +
                      " holds the address of a block of another function");
    }
  }
}

// The number of the part that defines each value; those not listed are in the last.
Homes homes_of(::llvm::Module& module) {
  Homes homes;
  Number functions = 0;
  for (const auto& function : module) {
    if (!function.isDeclaration()) homes.emplace(&function, functions++);
  }
  for (auto& function : module) {
    for (auto& block : function) {
      if (auto* address = ::llvm::BlockAddress::lookup(&block)) {
        follow(address, homes.at(&function), homes);
      }
    }
  }
  const auto join = [&](const ::llvm::GlobalValue& value, const ::llvm::GlobalObject* target) {
    if (const auto at = homes.find(target); at != homes.end()) homes.emplace(&value, at->second);
  };
  for (const auto& one : module.ifuncs()) join(one, one.getResolverFunction());
  for (const auto& alias : module.aliases()) join(alias, alias.getAliaseeObject());
  return homes;
}

::llvm::MDNode* note_of(::llvm::GlobalValue& value, bool was_unnamed) {
  auto& context = value.getContext();
  const auto linkage = value.isDeclaration() ? declared : std::int64_t(value.getLinkage());
  const auto* object = ::llvm::dyn_cast<::llvm::GlobalObject>(&value);
  const auto* comdat = object ? object->getComdat() : nullptr;
  return ::llvm::MDNode::get(context, {text(context, value.getName()), number(context, linkage),
                                       text(context, comdat ? comdat->getName() : ""),
                                       number(context, comdat ? comdat->getSelectionKind() : 0),
                                       number(context, was_unnamed)});
}

void promote(::llvm::GlobalValue& value) {
  using ::llvm::GlobalValue;
  if (auto* object = ::llvm::dyn_cast<::llvm::GlobalObject>(&value)) object->setComdat(nullptr);
  if (value.isDeclaration()) return;
  if (value.hasLocalLinkage()) {
    value.setLinkage(GlobalValue::ExternalLinkage);
    value.setVisibility(GlobalValue::HiddenVisibility);
  } else if (value.hasLinkOnceAnyLinkage()) {
    value.setLinkage(GlobalValue::WeakAnyLinkage);
  } else if (value.hasLinkOnceODRLinkage() || value.hasAvailableExternallyLinkage()) {
    value.setLinkage(GlobalValue::WeakODRLinkage);
  }
}

// Record the state of every value and make it linkable.
::llvm::MDNode* promote_all(::llvm::Module& module) {
  std::vector<::llvm::Metadata*> notes;
  for (auto& value : module.global_values()) {
    const bool was_unnamed = !value.hasName();
    if (was_unnamed) value.setName("unnamed");
    notes.push_back(note_of(value, was_unnamed));
    promote(value);
  }
  return ::llvm::MDNode::get(module.getContext(), notes);
}

// Every part contains the value of a constant, which only the last part defines.
bool is_shared(const ::llvm::GlobalValue& value, const Homes& homes) {
  const auto* variable = ::llvm::dyn_cast<::llvm::GlobalVariable>(&value);
  return variable && variable->isConstant() && variable->hasDefinitiveInitializer() &&
         !variable->hasAppendingLinkage() && homes.count(variable) == 0;
}

// Remove the parts of a module that linking would add up, or repeat from the defining part.
void trim(::llvm::Module& part, const Homes& homes, const ::llvm::Module& whole,
          ::llvm::ValueToValueMapTy& copies) {
  for (const auto& variable : whole.globals()) {
    auto* copy = ::llvm::cast<::llvm::GlobalVariable>(copies[&variable]);
    if (variable.hasAppendingLinkage() && copy->use_empty()) {
      copy->eraseFromParent();
    } else if (is_shared(variable, homes)) {
      copy->setLinkage(::llvm::GlobalValue::AvailableExternallyLinkage);
    } else if (copy->isDeclaration()) {
      copy->clearMetadata();
    }
  }
  part.setModuleInlineAsm("");
  for (auto& named : ::llvm::make_early_inc_range(part.named_metadata())) {
    if (named.getName() == "llvm.module.flags" || named.getName() == "llvm.dbg.cu") continue;
    part.eraseNamedMetadata(&named);
  }
}

// CloneModule copies every ifunc, but its resolver only into the resolver's own part.
void declare_ifuncs(::llvm::Module& part, const ::llvm::Module& whole,
                    ::llvm::ValueToValueMapTy& copies) {
  for (const auto& ifunc : whole.ifuncs()) {
    auto* copy = ::llvm::cast<::llvm::GlobalIFunc>(copies[&ifunc]);
    const auto* resolver = copy->getResolverFunction();
    if (resolver && !resolver->isDeclaration()) continue;
    auto* type = ::llvm::cast<::llvm::FunctionType>(copy->getValueType());
    auto* declaration =
        ::llvm::Function::Create(type, ::llvm::GlobalValue::ExternalLinkage, "", part);
    declaration->setVisibility(copy->getVisibility());
    copy->replaceAllUsesWith(declaration);
    declaration->takeName(copy);
    copy->eraseFromParent();
  }
}

struct Split {
  std::set<std::int64_t> here;
  std::int64_t total = declared;
  const ::llvm::MDNode* layout = nullptr;

  bool is_complete() const { return layout && std::int64_t(here.size()) == total; }
};

void move_to_end(::llvm::Module& module, ::llvm::GlobalValue& value) {
  if (auto* function = ::llvm::dyn_cast<::llvm::Function>(&value)) {
    auto& list = module.getFunctionList();
    list.splice(list.end(), list, function->getIterator());
  } else if (auto* variable = ::llvm::dyn_cast<::llvm::GlobalVariable>(&value)) {
    module.removeGlobalVariable(variable);
    module.insertGlobalVariable(variable);
  } else if (auto* alias = ::llvm::dyn_cast<::llvm::GlobalAlias>(&value)) {
    module.removeAlias(alias);
    module.insertAlias(alias);
  } else if (auto* ifunc = ::llvm::dyn_cast<::llvm::GlobalIFunc>(&value)) {
    module.removeIFunc(ifunc);
    module.insertIFunc(ifunc);
  }
}

// Undo only the changes of `promote`: a note may come from untrusted input.
void restore_linkage(::llvm::GlobalValue& value, std::int64_t noted) {
  using ::llvm::GlobalValue;
  if (value.isDeclaration()) return;
  const auto linkage = GlobalValue::LinkageTypes(noted);
  if (linkage == GlobalValue::InternalLinkage || linkage == GlobalValue::PrivateLinkage) {
    value.setVisibility(GlobalValue::DefaultVisibility);
    value.setLinkage(linkage);
  } else if (linkage == GlobalValue::LinkOnceAnyLinkage ||
             linkage == GlobalValue::LinkOnceODRLinkage ||
             (linkage == GlobalValue::AvailableExternallyLinkage &&
              ::llvm::isa<::llvm::Function>(value))) {
    value.setLinkage(linkage);
  }
}

void restore(::llvm::Module& module, const ::llvm::MDNode& note) {
  auto* value = module.getNamedValue(text_at(note, 0));
  if (!value) return;
  const auto linkage = number_at(note, 1);
  restore_linkage(*value, linkage);
  auto* object = ::llvm::dyn_cast<::llvm::GlobalObject>(value);
  if (object && linkage != declared && !object->isDeclarationForLinker() &&
      !text_at(note, 2).empty()) {
    auto* comdat = module.getOrInsertComdat(text_at(note, 2));
    const auto kind = number_at(note, 3);
    if (kind >= 0 && kind <= ::llvm::Comdat::SameSize) {
      comdat->setSelectionKind(::llvm::Comdat::SelectionKind(kind));
    }
    object->setComdat(comdat);
  }
  if (number_at(note, 4) == 1) value->setName("");
  move_to_end(module, *value);
}

std::map<std::string, Split> splits_in(const ::llvm::NamedMDNode& notes) {
  std::map<std::string, Split> splits;
  for (const auto* note : notes.operands()) {
    auto& split = splits[text_at(*note, 0).str()];
    split.here.insert(number_at(*note, 1));
    split.total = number_at(*note, 2);
    if (note->getNumOperands() > 3) {
      split.layout = ::llvm::dyn_cast_or_null<::llvm::MDNode>(note->getOperand(3));
    }
  }
  return splits;
}

}  // namespace

std::vector<std::pair<std::string, Fragile<::llvm::Module>>> parts_of(::llvm::Module& module,
                                                                      std::string_view id) {
  const auto homes = homes_of(module);
  auto* layout = promote_all(module);
  std::vector<std::string> names;
  for (const auto& function : module) {
    if (!function.isDeclaration()) names.push_back(function.getName().str());
  }
  const Number last = names.size();
  names.emplace_back();
  auto& context = module.getContext();
  std::vector<std::pair<std::string, Fragile<::llvm::Module>>> parts;
  for (Number at = 0; at <= last; ++at) {
    ::llvm::ValueToValueMapTy copies;
    Fragile<::llvm::Module> part =
        ::llvm::CloneModule(module, copies, [&](const ::llvm::GlobalValue* value) {
          const auto home = homes.find(value);
          return (home == homes.end() ? last : home->second) == at || is_shared(*value, homes);
        });
    declare_ifuncs(*part, module, copies);
    std::vector<::llvm::Metadata*> note{text(context, {id.data(), id.size()}),
                                        number(context, std::int64_t(at)),
                                        number(context, std::int64_t(last + 1))};
    if (at < last) {
      trim(*part, homes, module, copies);
    } else {
      note.push_back(layout);
    }
    part->getOrInsertNamedMetadata(notes_name)->addOperand(::llvm::MDNode::get(context, note));
    parts.emplace_back(names[at], std::move(part));
  }
  return parts;
}

void restore_parts(::llvm::Module& module) {
  auto* notes = module.getNamedMetadata(notes_name);
  if (!notes) return;
  const auto splits = splits_in(*notes);
  for (const auto& [id, split] : splits) {
    if (!split.is_complete()) continue;
    for (const auto& operand : split.layout->operands()) {
      if (const auto* note = ::llvm::dyn_cast_or_null<::llvm::MDNode>(operand.get())) {
        restore(module, *note);
      }
    }
  }
  std::vector<::llvm::MDNode*> left;
  for (auto* note : notes->operands()) {
    if (!splits.at(text_at(*note, 0).str()).is_complete()) left.push_back(note);
  }
  notes->clearOperands();
  for (auto* note : left) notes->addOperand(note);
  if (left.empty()) module.eraseNamedMetadata(notes);
}

}  // namespace compiler_gym::llvm
