#include "compiler_gym/llvm/trials.h"

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "fingerprint.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/StructuralHash.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "pass_runner.h"
#include "plugins.h"
#include "target.h"

namespace compiler_gym::llvm {
namespace {

// Passes visit users in the order of use lists, so a clone needs the original's.
void order_uses(const ::llvm::Value& original, const ::llvm::ValueToValueMapTy& map) {
  if (!original.hasNUsesOrMore(2)) return;
  ::llvm::DenseMap<const ::llvm::Use*, std::size_t> places;
  for (const auto& use : original.uses()) {
    ::llvm::Value* user = map.lookup(use.getUser());
    if (!user) continue;
    const auto place = places.size();
    places[&::llvm::cast<::llvm::User>(user)->getOperandUse(use.getOperandNo())] = place;
  }
  ::llvm::Value* clone = map.lookup(&original);
  clone->sortUseList([&](const auto& one, const auto& other) {
    return places.lookup(&one) < places.lookup(&other);
  });
}

// A copy that stands for its function until it is removed. Nothing removes it if a pass gives up,
// because the module is then lost.
class Clone {
 public:
  explicit Clone(::llvm::Function& original)
      : original_(original),
        clone_(::llvm::Function::Create(original.getFunctionType(), original.getLinkage(),
                                        original.getAddressSpace(), "", original.getParent())) {
    ::llvm::ValueToValueMapTy map;
    map[&original] = clone_;
    for (auto& argument : original.args()) {
      map[&argument] = clone_->getArg(argument.getArgNo());
    }
    ::llvm::SmallVector<::llvm::ReturnInst*, 8> returns;
    ::llvm::CloneFunctionInto(clone_, &original, map,
                              ::llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
    for (auto& argument : original.args()) order_uses(argument, map);
    for (auto& block : original) {
      order_uses(block, map);
      for (auto& instruction : block) order_uses(instruction, map);
    }
    clone_->takeName(&original);
  }

  void remove() {
    original_.takeName(clone_);
    clone_->replaceAllUsesWith(&original_);
    clone_->eraseFromParent();
  }

  ::llvm::Function& operator*() const { return *clone_; }

 private:
  ::llvm::Function& original_;
  ::llvm::Function* clone_;
};

class Trier {
 public:
  explicit Trier(::llvm::Module& module)
      : module_(module),
        runner_(target_machine_for(module), module.getTargetTriple(),
                ::llvm::PipelineTuningOptions(), add_plugin_passes) {
    for (auto& value : module.global_values()) known_.insert(&value);
  }

  void run(::llvm::Function& function, const std::string& pipeline, Trials& trials) {
    runner_.parse_on(pipeline, {});  // throws before there is a clone
    Clone clone(function);
    runner_.run(module_, runner_.parse_on(pipeline, {&*clone}));
    trials.instructions.push_back((*clone).getInstructionCount());
    trials.hashes.push_back(::llvm::StructuralHash(*clone, /*DetailedHash=*/true));
    trials.digests.push_back(fingerprint_.of(*clone)[0]);
    clone.remove();
    remove_new(module_.globals());
    remove_new(module_.functions());
  }

 private:
  // Passes declare functions that they call.
  template <class Values>
  void remove_new(Values&& values) {
    for (auto& value : ::llvm::make_early_inc_range(values)) {
      if (value.use_empty() && !known_.contains(&value)) value.eraseFromParent();
    }
  }

  ::llvm::Module& module_;
  PassRunner runner_;
  Fingerprint fingerprint_;
  ::llvm::SmallPtrSet<::llvm::GlobalValue*, 32> known_;
};

}  // namespace

std::vector<::llvm::Function*> find_functions(::llvm::Module& module,
                                              const std::vector<std::string>& names) {
  ::llvm::SmallPtrSet<::llvm::Function*, 16> wanted;
  for (const auto& name : names) {
    auto* function = module.getFunction(name);
    if (!function || function->isDeclaration()) {
      throw RefusedError("the module has no function '" + name + "' with a body");
    }
    wanted.insert(function);
  }
  std::vector<::llvm::Function*> functions;
  for (auto& function : module) {
    if (wanted.contains(&function)) functions.push_back(&function);
  }
  return functions;
}

Trials try_on(Module& module, const std::vector<Choice>& choices) {
  Trials trials;
  module.edit([&](::llvm::Module& ir) {
    Trier trier(ir);
    for (const auto& [name, pipelines] : choices) {
      auto& function = *find_functions(ir, {name}).front();
      for (const auto& pipeline : pipelines) trier.run(function, pipeline, trials);
    }
    return false;
  });
  return trials;
}

void keep_bodies(Module& module, const std::vector<std::string>& names) {
  module.edit([&](::llvm::Module& ir) {
    const auto functions = find_functions(ir, names);
    const ::llvm::SmallPtrSet<::llvm::Function*, 16> kept(functions.begin(), functions.end());
    for (auto& function : ir) {
      if (function.isDeclaration() || kept.contains(&function)) continue;
      const auto linkage = function.getLinkage();
      function.deleteBody();  // and make it external
      function.setLinkage(linkage);
      auto* block = ::llvm::BasicBlock::Create(ir.getContext(), "", &function);
      new ::llvm::UnreachableInst(ir.getContext(), block);
    }
    return true;
  });
}

}  // namespace compiler_gym::llvm
