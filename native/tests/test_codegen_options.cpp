#include "compiler_gym/llvm/codegen_options.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace compiler_gym::llvm;

TEST_CASE("every option has a name and values, none of them the default") {
  CHECK(codegen_options().size() > 40);
  for (const auto& option : codegen_options()) {
    CAPTURE(option.name);
    CHECK(!option.values.empty());
    for (const auto& value : option.values) CHECK(value != default_value);
  }
}

TEST_CASE("choices are read back, and the default leaves no node") {
  ::llvm::LLVMContext context;
  ::llvm::Module module("m", context);
  CHECK(read_chosen_options(module).empty());
  CHECK_FALSE(choose_options(module, {}));
  const ChosenOptions chosen{{"disable-lsr", "true"}, {"regalloc", "basic"}};
  CHECK(choose_options(module, chosen));
  CHECK_FALSE(choose_options(module, chosen));
  CHECK(read_chosen_options(module) == chosen);
  CHECK(choose_options(module, {}));
  CHECK(module.getNamedMetadata(codegen_node) == nullptr);
}

TEST_CASE("text changes choices, and is refused where it names nothing that is offered") {
  ChosenOptions chosen{{"regalloc", "basic"}};
  read_options("disable-lsr=true;regalloc=default", chosen);
  CHECK(chosen == ChosenOptions{{"disable-lsr", "true"}});
  read_options("reset;regalloc=basic", chosen);
  CHECK(chosen == ChosenOptions{{"regalloc", "basic"}});
  for (const char* wrong : {"", "regalloc", "regalloc=slow", "stats=true", "stats=default"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(read_options(wrong, chosen), PipelineError);
  }
}
