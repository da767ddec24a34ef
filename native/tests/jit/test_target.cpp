#include "compiler_gym/jit/target.h"

#include <doctest/doctest.h>

#include "compiler_gym/jit/errors.h"

using namespace compiler_gym::jit;

namespace {

constexpr auto kernel = R"(define ptx_kernel void @k(ptr %p) {
  %v = load float, ptr %p
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  ret void
})";

}  // namespace

TEST_CASE("this machine is known") {
  CHECK_FALSE(host_cpu().empty());
  CHECK(host_triple().find("linux") != std::string::npos);
  CHECK(host_features().contains("sse2"));
  CHECK(vector_bits() >= 128);
  CHECK(vector_registers() >= 16);
}

TEST_CASE("assembly is made for this machine and for a graphics card") {
  const auto host = assembly(
      "define float @f(float %x) {\n  %y = fmul float %x, %x\n"
      "  ret float %y\n}",
      "", "", "", 2);
  CHECK(host.find("mulss") != std::string::npos);
  const auto card = assembly(kernel, "nvptx64-nvidia-cuda", "sm_70", "", 2);
  CHECK(card.find(".target sm_70") != std::string::npos);
  CHECK(card.find(".visible .entry k(") != std::string::npos);
  CHECK(card.find("add.rn.f32") != std::string::npos);
}

TEST_CASE("another machine is refused") {
  CHECK_THROWS_WITH_AS(assembly(kernel, "riscv64-linux", "", "", 2), doctest::Contains("riscv64"),
                       TargetError);
}
