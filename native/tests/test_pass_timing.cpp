#include "compiler_gym/llvm/pass_timing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler_gym/llvm/module.h"
#include "programs.h"

using namespace compiler_gym::llvm;

namespace {

const TimedPart* find(const std::vector<TimedPart>& parts, std::string_view name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("passes, their analyses and the work around them are nested parts") {
  Module module(compiler_gym::tests::loop);
  module.time_passes(true);
  module.run("function(sroa,instcombine<no-verify-fixpoint>)");
  const auto parts = module.take_times();
  for (const auto* name :
       {"set up passes", "read the pipeline", "read before passes", "compare", "sroa", "domtree"}) {
    CAPTURE(name);
    REQUIRE(find(parts, name));
  }
  const auto* pass = find(parts, "sroa");
  CHECK(pass->kind == PartKind::pass);
  CHECK(pass->calls == 1);
  CHECK(find(parts, "domtree")->kind == PartKind::analysis);
  CHECK(find(parts, "compare")->kind == PartKind::detection);
  for (std::size_t place = 0; place < parts.size(); ++place) {
    REQUIRE(parts[place].parent < static_cast<std::ptrdiff_t>(place));
    std::int64_t inside = 0;
    for (const auto& part : parts) {
      if (part.parent == static_cast<std::ptrdiff_t>(place)) inside += part.nanoseconds;
    }
    CHECK(inside <= parts[place].nanoseconds);
  }
}

TEST_CASE("taken parts are removed, and nothing is timed without a request") {
  Module module(compiler_gym::tests::loop);
  module.run("sroa");
  CHECK(module.take_times().empty());
  module.time_passes(true);
  module.run("sroa");
  CHECK(!module.take_times().empty());
  CHECK(module.take_times().empty());
  module.time_passes(false);
  module.run("gvn");
  CHECK(module.take_times().empty());
}

TEST_CASE("timing changes nothing") {
  Module plain(compiler_gym::tests::loop);
  Module timed(compiler_gym::tests::loop);
  timed.time_passes(true);
  for (const auto* pipeline : {"sroa", "loop-rotate", "gvn", "gvn", "default<Oz>"}) {
    CHECK(plain.run(pipeline) == timed.run(pipeline));
    CHECK(plain.bitcode() == timed.bitcode());
  }
}

TEST_CASE("a part that was left open ends with the one around it") {
  PassTiming timing;
  {
    const Timed outer(&timing, PartKind::surroundings, "outer");
    timing.begin(PartKind::pass, "left open");
    timing.begin(PartKind::pass, "left open too");
  }
  timing.end();  // an additional one does no harm
  timing.begin(PartKind::pass, "next");
  const auto parts = timing.take();
  REQUIRE(parts.size() == 4);
  CHECK(parts[1].parent == 0);
  CHECK(parts[2].parent == 1);
  CHECK(parts[3].parent == -1);
  CHECK(parts[1].nanoseconds <= parts[0].nanoseconds);
}
