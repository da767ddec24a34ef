#include "mark_ids.h"

#include <array>
#include <string>

#include "compiler_gym/llvm/marks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::Attribute;
using ::llvm::dyn_cast;
using ::llvm::MDNode;
using ::llvm::StringRef;

constexpr StringRef call_kind = "compiler_gym.call";
constexpr StringRef loop_kind = "compiler_gym.loop";
constexpr StringRef function_id = "compiler-gym-function";
constexpr StringRef function_was = "compiler-gym-function-was";

enum CallChoice : std::size_t { call_default, call_inline, call_never };
enum FunctionChoice : std::size_t { as_it_is, optsize, minsize, cold, hot, noinline };

// The new properties of a loop's `!llvm.loop`, which replace all properties with the prefix
// `replaces`.
struct LoopChoice {
  const char* name;
  const char* replaces = nullptr;
  const char* property = nullptr;
  std::optional<std::int32_t> number = {};
  bool enables_vectorizer = false;
  std::optional<unsigned> peels = {};
};

constexpr auto unroll = "llvm.loop.unroll.";
constexpr auto vectorize = "llvm.loop.vectorize.";
constexpr auto interleave = "llvm.loop.interleave.";
constexpr auto distribute = "llvm.loop.distribute.";
constexpr auto off = "llvm.loop.disable_nonforced";

constexpr auto unroll_count = "llvm.loop.unroll.count";
constexpr auto width = "llvm.loop.vectorize.width";
constexpr auto interleave_count = "llvm.loop.interleave.count";

const std::array loop_choices{
    LoopChoice{.name = "default"},
    LoopChoice{.name = "off", .replaces = off, .property = off},
    LoopChoice{
        .name = "unroll.disable", .replaces = unroll, .property = "llvm.loop.unroll.disable"},
    LoopChoice{.name = "unroll.full", .replaces = unroll, .property = "llvm.loop.unroll.full"},
    LoopChoice{.name = "unroll.2", .replaces = unroll, .property = unroll_count, .number = 2},
    LoopChoice{.name = "unroll.4", .replaces = unroll, .property = unroll_count, .number = 4},
    LoopChoice{.name = "unroll.8", .replaces = unroll, .property = unroll_count, .number = 8},
    LoopChoice{.name = "unroll.16", .replaces = unroll, .property = unroll_count, .number = 16},
    LoopChoice{.name = "vectorize.1", .replaces = vectorize, .property = width, .number = 1},
    LoopChoice{.name = "vectorize.2",
               .replaces = vectorize,
               .property = width,
               .number = 2,
               .enables_vectorizer = true},
    LoopChoice{.name = "vectorize.4",
               .replaces = vectorize,
               .property = width,
               .number = 4,
               .enables_vectorizer = true},
    LoopChoice{.name = "vectorize.8",
               .replaces = vectorize,
               .property = width,
               .number = 8,
               .enables_vectorizer = true},
    LoopChoice{.name = "vectorize.16",
               .replaces = vectorize,
               .property = width,
               .number = 16,
               .enables_vectorizer = true},
    LoopChoice{
        .name = "interleave.1", .replaces = interleave, .property = interleave_count, .number = 1},
    LoopChoice{
        .name = "interleave.2", .replaces = interleave, .property = interleave_count, .number = 2},
    LoopChoice{
        .name = "interleave.4", .replaces = interleave, .property = interleave_count, .number = 4},
    LoopChoice{
        .name = "interleave.8", .replaces = interleave, .property = interleave_count, .number = 8},
    LoopChoice{.name = "distribute.on",
               .replaces = distribute,
               .property = "llvm.loop.distribute.enable",
               .number = 1},
    LoopChoice{.name = "distribute.off",
               .replaces = distribute,
               .property = "llvm.loop.distribute.enable",
               .number = 0},
    LoopChoice{.name = "peel.1", .peels = 1},
    LoopChoice{.name = "peel.2", .peels = 2},
};

::llvm::Metadata* number(::llvm::LLVMContext& context, std::int32_t value) {
  return ::llvm::ConstantAsMetadata::get(
      ::llvm::ConstantInt::get(::llvm::Type::getInt32Ty(context), value));
}

// The id in operand `at` of a node, which may be another tool's.
std::int32_t id_at(const MDNode& node, unsigned at) {
  if (node.getNumOperands() <= at) return no_id;
  const auto* constant =
      ::llvm::mdconst::dyn_extract_or_null<::llvm::ConstantInt>(node.getOperand(at));
  if (!constant || constant->getBitWidth() != 32 || constant->uge(highest_id + 1)) return no_id;
  return static_cast<std::int32_t>(constant->getZExtValue());
}

// The state of a call before it was marked, read from its node.
std::optional<StringRef> noted_at(const MDNode& node) {
  if (node.getNumOperands() < 2) return std::nullopt;
  const auto* noted = ::llvm::dyn_cast_or_null<::llvm::MDString>(node.getOperand(1));
  if (!noted || !::llvm::is_contained({"", "inline", "never"}, noted->getString())) {
    return std::nullopt;
  }
  return noted->getString();
}

StringRef name_of(const ::llvm::Metadata* property) {
  const auto* node = ::llvm::dyn_cast_or_null<MDNode>(property);
  if (!node || node->getNumOperands() == 0) return {};
  const auto* name = ::llvm::dyn_cast_or_null<::llvm::MDString>(node->getOperand(0));
  return name ? name->getString() : StringRef();
}

const MDNode* id_node(const MDNode* loop) {
  if (!loop || loop->getNumOperands() == 0) return nullptr;
  for (const auto& property : ::llvm::drop_begin(loop->operands())) {
    if (name_of(property) == loop_kind) return ::llvm::cast<MDNode>(property);
  }
  return nullptr;
}

using Properties = ::llvm::SmallVector<::llvm::Metadata*, 8>;

// The properties in the tuple that is operand `at` of the id's node.
Properties listed(const MDNode* id, unsigned at) {
  Properties found;
  if (!id || id->getNumOperands() <= at) return found;
  if (const auto* list = ::llvm::dyn_cast_or_null<MDNode>(id->getOperand(at))) {
    for (const auto& property : list->operands()) {
      if (!name_of(property).empty()) found.push_back(property);
    }
  }
  return found;
}

Properties properties_of(::llvm::LLVMContext& context, const LoopChoice& choice) {
  const auto property = [&](StringRef name, ::llvm::Metadata* value) -> ::llvm::Metadata* {
    ::llvm::SmallVector<::llvm::Metadata*, 2> operands{::llvm::MDString::get(context, name)};
    if (value) operands.push_back(value);
    return MDNode::get(context, operands);
  };
  const auto truth = [&](bool value) {
    return ::llvm::ConstantAsMetadata::get(::llvm::ConstantInt::getBool(context, value));
  };
  Properties found;
  if (choice.replaces == distribute) {
    found.push_back(property(choice.property, truth(*choice.number != 0)));
  } else {
    found.push_back(
        property(choice.property, choice.number ? number(context, *choice.number) : nullptr));
  }
  if (choice.enables_vectorizer) {
    found.push_back(property("llvm.loop.vectorize.enable", truth(true)));
  }
  return found;
}

MDNode* loop_node(::llvm::LLVMContext& context, Properties properties) {
  properties.insert(properties.begin(), nullptr);
  auto* loop = MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);
  return loop;
}

::llvm::Metadata* loop_id(::llvm::LLVMContext& context, std::int32_t id, const Properties& ours,
                          const Properties& replaced) {
  Properties operands{::llvm::MDString::get(context, loop_kind), number(context, id)};
  if (!ours.empty() || !replaced.empty()) {
    operands.push_back(MDNode::get(context, ours));
    operands.push_back(MDNode::get(context, replaced));
  }
  return MDNode::get(context, operands);
}

// The attributes of a function that marks change, in the order in which they are recorded.
constexpr std::pair<Attribute::AttrKind, const char*> function_marks[] = {
    {Attribute::OptimizeForSize, "optsize"},
    {Attribute::MinSize, "minsize"},
    {Attribute::Cold, "cold"},
    {Attribute::Hot, "hot"},
    {Attribute::NoInline, "noinline"},
};

std::string marks_now(const ::llvm::Function& function) {
  std::string found;
  for (const auto& [kind, name] : function_marks) {
    if (function.hasFnAttribute(kind)) found.append(found.empty() ? "" : " ").append(name);
  }
  return found;
}

// The attributes of a function before it was marked, in the format of `marks_now`.
std::string marks_before(const ::llvm::Function& function) {
  if (!function.hasFnAttribute(function_was)) return marks_now(function);
  return function.getFnAttribute(function_was).getValueAsString().str();
}

}  // namespace

const std::vector<std::string>& choice_names(PointKind kind) {
  static const std::vector<std::string> calls{"default", "inline", "never"};
  static const std::vector<std::string> functions{"default", "optsize", "minsize",
                                                  "cold",    "hot",     "noinline"};
  static const std::vector<std::string> loops = [] {
    std::vector<std::string> names;
    for (const auto& choice : loop_choices) names.emplace_back(choice.name);
    return names;
  }();
  if (kind == PointKind::call) return calls;
  return kind == PointKind::loop ? loops : functions;
}

std::int32_t id_of(const ::llvm::CallBase& call) {
  if (!call.hasMetadataOtherThanDebugLoc()) return no_id;
  const auto* node = call.getMetadata(call_kind);
  return node ? id_at(*node, 0) : no_id;
}

std::int32_t id_of(const ::llvm::Function& function) {
  if (!function.hasFnAttribute(function_id)) return no_id;
  std::int32_t id = no_id;
  const auto text = function.getFnAttribute(function_id).getValueAsString();
  return text.getAsInteger(10, id) || id < 0 || id > highest_id ? no_id : id;
}

std::int32_t id_of_loop(const MDNode* loop) {
  const auto* node = id_node(loop);
  return node ? id_at(*node, 1) : no_id;
}

bool is_call_site(const ::llvm::CallBase& call) {
  if (call.isInlineAsm() || ::llvm::isa<::llvm::IntrinsicInst>(call)) return false;
  const auto* callee = call.getCalledFunction();
  return !callee || !callee->isDeclaration();
}

void set_id(::llvm::CallBase& call, std::int32_t id) {
  auto& context = call.getContext();
  call.setMetadata(call_kind, MDNode::get(context, number(context, id)));
}

void set_id(::llvm::Function& function, std::int32_t id) {
  function.addFnAttr(function_id, std::to_string(id));
}

MDNode* with_id(::llvm::LLVMContext& context, MDNode* loop, std::int32_t id) {
  Properties properties;
  if (loop) properties.append(loop->op_begin() + 1, loop->op_end());
  properties.push_back(loop_id(context, id, {}, {}));
  return loop_node(context, properties);
}

std::size_t choice_of(const ::llvm::CallBase& call) {
  const auto* node = call.getMetadata(call_kind);
  if (node && !noted_at(*node)) return call_default;
  if (call.getAttributes().hasFnAttr(Attribute::AlwaysInline)) return call_inline;
  return call.getAttributes().hasFnAttr(Attribute::NoInline) ? call_never : call_default;
}

std::size_t choice_of(const ::llvm::Function& function) {
  if (!function.hasFnAttribute(function_was)) return as_it_is;
  const auto text = function.getFnAttribute(function_was).getValueAsString();
  std::size_t choice = as_it_is;
  // The last word is the choice; the state before it comes first.
  return text.rsplit(':').second.getAsInteger(10, choice) || choice > noinline ? as_it_is : choice;
}

std::uint32_t choices_of_loop(const MDNode* loop) {
  const auto ours = listed(id_node(loop), 2);
  if (!loop || ours.empty()) return 0;
  std::uint32_t found = 0;
  for (std::size_t at = 1; at < loop_choices.size(); ++at) {
    if (!loop_choices[at].property) continue;
    const auto wanted = properties_of(loop->getContext(), loop_choices[at]);
    const auto is_there = [&](::llvm::Metadata* property) {
      return ::llvm::is_contained(ours, property) &&
             ::llvm::any_of(loop->operands(), [&](const auto& op) { return op == property; });
    };
    if (::llvm::all_of(wanted, is_there)) found |= 1U << at;
  }
  return found;
}

std::uint32_t allowed_for(const ::llvm::Function& function) {
  if (function.hasOptNone()) return 0;
  std::uint32_t allowed = (1U << (noinline + 1)) - 1;
  if (function.hasFnAttribute(Attribute::AlwaysInline)) allowed &= ~(1U << noinline);
  return allowed;
}

bool mark(::llvm::CallBase& call, std::size_t choice) {
  auto& context = call.getContext();
  const auto* before_node = call.getMetadata(call_kind);
  const auto before = call.getAttributes();
  const auto has = [&](Attribute::AttrKind kind) { return before.hasFnAttr(kind); };
  StringRef was = has(Attribute::AlwaysInline) ? "inline" : has(Attribute::NoInline) ? "never" : "";
  if (const auto noted = noted_at(*before_node)) was = *noted;
  auto wanted = choice;
  if (choice == call_default && was == "inline") wanted = call_inline;
  if (choice == call_default && was == "never") wanted = call_never;
  auto after = before.removeFnAttribute(context, Attribute::AlwaysInline)
                   .removeFnAttribute(context, Attribute::NoInline);
  if (wanted == call_inline) after = after.addFnAttribute(context, Attribute::AlwaysInline);
  if (wanted == call_never) after = after.addFnAttribute(context, Attribute::NoInline);
  ::llvm::SmallVector<::llvm::Metadata*, 2> operands{before_node->getOperand(0)};
  if (choice != call_default) operands.push_back(::llvm::MDString::get(context, was));
  auto* node = MDNode::get(context, operands);
  if (node == before_node && after == before) return false;
  call.setMetadata(call_kind, node);
  call.setAttributes(after);
  return true;
}

bool mark(::llvm::Function& function, std::size_t choice) {
  const auto before = function.getAttributes();
  const auto was = StringRef(marks_before(function)).rsplit(':').first.str();
  ::llvm::SmallVector<StringRef, 5> names;
  StringRef(was).split(names, ' ', -1, /*KeepEmpty=*/false);
  ::llvm::SmallDenseSet<int, 8> wanted;
  for (const auto& [kind, name] : function_marks) {
    if (::llvm::is_contained(names, name)) wanted.insert(kind);
  }
  switch (choice) {
    case optsize:
      wanted.erase(Attribute::MinSize);
      wanted.insert(Attribute::OptimizeForSize);
      break;
    case minsize:
      wanted.insert(Attribute::MinSize);
      wanted.insert(Attribute::OptimizeForSize);
      wanted.erase(Attribute::Hot);
      break;
    case cold:
      wanted.insert(Attribute::Cold);
      wanted.erase(Attribute::Hot);
      break;
    case hot:  // must be fast: not optimised for size
      wanted.insert(Attribute::Hot);
      for (const auto kind : {Attribute::Cold, Attribute::MinSize, Attribute::OptimizeForSize}) {
        wanted.erase(kind);
      }
      break;
    case noinline: wanted.insert(Attribute::NoInline); break;
    default: break;
  }
  for (const auto& [kind, name] : function_marks) {
    function.removeFnAttr(kind);
    if (wanted.contains(kind)) function.addFnAttr(kind);
  }
  function.removeFnAttr(function_was);
  if (choice != as_it_is) function.addFnAttr(function_was, was + ":" + std::to_string(choice));
  return function.getAttributes() != before;
}

MDNode* mark_loop(MDNode* loop, std::size_t choice) {
  auto& context = loop->getContext();
  const auto* id = id_node(loop);
  auto ours = listed(id, 2), replaced = listed(id, 3);
  const auto& wanted = loop_choices[choice];
  Properties kept;
  const bool is_default = choice == 0;
  for (const auto& property : ::llvm::drop_begin(loop->operands())) {
    if (property == id) continue;
    const bool goes = is_default ? ::llvm::is_contained(ours, property.get())
                                 : name_of(property).starts_with(wanted.replaces);
    if (!goes) {
      kept.push_back(property);
    } else if (!is_default && !::llvm::is_contained(ours, property.get())) {
      replaced.push_back(property);
    }
  }
  if (is_default) {
    kept.append(replaced);
    kept.push_back(loop_id(context, id_of_loop(loop), {}, {}));
  } else {
    const auto added = properties_of(context, wanted);
    ::llvm::erase_if(ours, [&](auto* p) { return name_of(p).starts_with(wanted.replaces); });
    kept.append(added);
    ours.append(added);
    kept.push_back(loop_id(context, id_of_loop(loop), ours, replaced));
  }
  const auto same = [&] {
    if (kept.size() + 1 != loop->getNumOperands()) return false;
    return ::llvm::all_of(kept, [&](auto* property) {
      return ::llvm::any_of(loop->operands(), [&](const auto& op) { return op == property; });
    });
  };
  return same() ? loop : loop_node(context, kept);
}

std::optional<unsigned> peel_count(std::size_t loop_choice) {
  return loop_choices[loop_choice].peels;
}

}  // namespace compiler_gym::llvm
