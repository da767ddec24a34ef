#include "compiler_gym/llvm/errors.h"

#include <doctest/doctest.h>

#include <type_traits>

using namespace compiler_gym::llvm;

namespace {

// A handler for one kind catches no other: each has a separate base.
template <class... Errors>
constexpr bool are_apart() {
  return (((std::is_base_of_v<Errors, InitError> + std::is_base_of_v<Errors, PipelineError> +
            std::is_base_of_v<Errors, FatalError> + std::is_base_of_v<Errors, DiagnosticError> +
            std::is_base_of_v<Errors, InvalidIrError> + std::is_base_of_v<Errors, TooLargeError> +
            std::is_base_of_v<Errors, UnsupportedError>) == 1) &&
          ...);
}
static_assert(are_apart<InitError, PipelineError, FatalError, DiagnosticError, InvalidIrError,
                        TooLargeError, UnsupportedError>());

}  // namespace

TEST_CASE("an error keeps its message") {
  CHECK(std::string(InitError("no module").what()) == "no module");
}
