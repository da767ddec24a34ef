#include "compiler_gym/llvm/pipeline.h"

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::StringRef;

constexpr std::string_view probe = R"(
target triple = "x86_64-pc-linux-gnu"

@table = internal global [64 x i32] zeroinitializer

define internal i32 @helper(ptr %from, i32 %bias) {
  %value = load i32, ptr %from
  %sum = add nsw i32 %value, %bias
  ret i32 %sum
}

define i32 @main(i32 %n) {
entry:
  %cell = alloca i32
  store i32 %n, ptr %cell
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %at = getelementptr [64 x i32], ptr @table, i32 0, i32 %j
  %got = call i32 @helper(ptr %at, i32 %i)
  store i32 %got, ptr %at
  %j.next = add nuw nsw i32 %j, 1
  %more.j = icmp ult i32 %j.next, 64
  br i1 %more.j, label %inner, label %outer.end
outer.end:
  %i.next = add nuw nsw i32 %i, 1
  %more.i = icmp slt i32 %i.next, %n
  br i1 %more.i, label %outer, label %exit
exit:
  %result = load i32, ptr %cell
  ret i32 %result
}
)";

// The kind that a heading of printPassNames announces; empty for analyses and for machine passes,
// which our pipelines cannot contain.
StringRef kind_of_heading(StringRef heading) {
  return ::llvm::StringSwitch<StringRef>(heading)
      .Cases({"Module passes:", "Module passes with params:"}, "module")
      .Cases({"CGSCC passes:", "CGSCC passes with params:"}, "cgscc")
      .Cases({"Function passes:", "Function passes with params:"}, "function")
      .Cases({"LoopNest passes:", "LoopNest passes with params:"}, "loopnest")
      .Cases({"Loop passes:", "Loop passes with params:"}, "loop")
      .Default("");
}

// Names may contain brackets themselves, as in print<domtree>: parameters are enclosed by the last
// bracket, under a heading that promises them.
std::pair<StringRef, StringRef> without_parameters(StringRef entry, bool parametric) {
  if (!parametric || !entry.ends_with(">")) return {entry, ""};
  std::size_t at = entry.size() - 1;
  for (int depth = 1; depth > 0 && at > 0;) {
    --at;
    depth += (entry[at] == '>') - (entry[at] == '<');
  }
  return {entry.take_front(at), entry.slice(at + 1, entry.size() - 1)};
}

}  // namespace

void check_pipeline(const std::string& pipeline) {
  try {
    Module(probe).run(pipeline);
  } catch (const FatalError& error) {
    throw PipelineError(error.what());
  } catch (const DiagnosticError& error) {
    throw PipelineError(error.what());
  }
}

std::vector<RegisteredPass> registered_passes() {
  start();
  std::string listing;
  ::llvm::raw_string_ostream out(listing);
  ::llvm::PassBuilder().printPassNames(out);
  std::vector<RegisteredPass> passes;
  StringRef kind;
  bool parametric = false;
  for (StringRef line : ::llvm::split(listing, '\n')) {
    if (!line.starts_with("  ")) {
      kind = kind_of_heading(line.trim());
      parametric = line.contains("with params");
    } else if (!kind.empty()) {
      const auto [name, parameters] = without_parameters(line.trim(), parametric);
      passes.push_back({kind.str(), name.str(), parameters.str()});
    }
  }
  return passes;
}

}  // namespace compiler_gym::llvm
