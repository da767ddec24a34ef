#include "compiler_gym/llvm/inlining.h"

#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "asking_advisor.h"
#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/features.h"
#include "coroutine.h"
#include "level_passes.h"
#include "llvm/Analysis/InlineModelFeatureMaps.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "loop_analyses.h"

namespace compiler_gym::llvm {
namespace {

using ::llvm::Function;

constexpr const char* inlining_names[] = {
#define NAME(type, shape, name, doc) #name,
    INLINE_COST_FEATURE_ITERATOR(NAME) INLINE_FEATURE_ITERATOR(NAME)
#undef NAME
        "inlining_default"};
static_assert(std::size(inlining_names) == inline_features_size);

// Passes other than the inliner make code grow too, and are not watched: so the instructions of the
// module are counted again after this many questions.
constexpr std::size_t questions_between_counts = 64;

std::string location_of(const ::llvm::Instruction& instruction) {
  std::string text;
  for (const auto* at = instruction.getDebugLoc().get(); at; at = at->getInlinedAt()) {
    if (!text.empty()) text += " @ ";
    text += at->getFilename().str() + ":" + std::to_string(at->getLine()) + ":" +
            std::to_string(at->getColumn());
  }
  return text;
}

std::int64_t instructions_of(const Function& function) { return function.getInstructionCount(); }

std::int64_t calls_of(const Function& function) {
  std::int64_t calls = 0;
  for (const auto* user : function.users()) {
    const auto* const call = ::llvm::dyn_cast<::llvm::CallBase>(user);
    calls += call && call->getCalledFunction() == &function;
  }
  return calls;
}

bool is_in_loop(const ::llvm::BasicBlock& block) {
  return make_fragile<Loops>(*block.getParent())->loops.getLoopFor(&block) != nullptr;
}

CallSite described(const ::llvm::CallBase& call, std::size_t number) {
  const Function& caller = *call.getCaller();
  const Function& callee = *call.getCalledFunction();
  const auto& block = *call.getParent();
  CallSite site;
  site.caller = caller.getName();
  site.callee = callee.getName();
  site.number = static_cast<std::int64_t>(number);
  site.block = std::distance(caller.begin(), block.getIterator());
  site.instruction = std::distance(block.begin(), call.getIterator());
  site.location = location_of(call);
  site.arguments = call.arg_size();
  site.caller_blocks = static_cast<std::int64_t>(caller.size());
  site.caller_instructions = instructions_of(caller);
  site.callee_blocks = static_cast<std::int64_t>(callee.size());
  site.callee_instructions = instructions_of(callee);
  site.callee_calls = calls_of(callee);
  site.is_callee_local = callee.hasLocalLinkage();
  site.is_in_loop = is_in_loop(block);
  return site;
}

}  // namespace

// Not movable: the coroutine and LLVM's callbacks point to it.
struct Inlining::Run {
  Run(::llvm::Module& module, Level level)
      : runner(runner_at(module, level)),
        coroutine([this, &module, level] { runner->run(module, passes_at(*runner, level)); }) {
    runner->functions().registerPass([] { return FunctionFactsAnalysis(); });
    runner->functions().registerPass([] { return PlainlyInlinable(); });
    runner->modules().registerPass(
        [] { return ::llvm::PluginInlineAdvisorAnalysis(make_advisor); });
    runner->callbacks().registerShouldRunOptionalPassCallback(
        [this](::llvm::StringRef, ::llvm::Any) { return !is_given_up; });
  }

  // LLVM takes a plain function here, which receives no context.
  static ::llvm::InlineAdvisor* make_advisor(::llvm::Module& module,
                                             ::llvm::FunctionAnalysisManager& analyses,
                                             ::llvm::InlineParams parameters,
                                             ::llvm::InlineContext context) {
    Run* const run = going_on;
    return new AskingAdvisor(module, analyses, parameters, context,
                             [run](const InlineQuestion& asked) { return run->ask(asked); });
  }

  bool ask(const InlineQuestion& asked) {
    if (is_given_up) return false;
    question = asked;
    coroutine.pause();
    question.reset();
    if (is_given_up) return false;
    const bool is_inlined =
        answer == InlineAnswer::standard ? asked.standard : answer == InlineAnswer::inlined;
    decisions.push_back(is_inlined);
    return is_inlined;
  }

  void go_on() {
    Run* const outer = std::exchange(going_on, this);
    try {
      coroutine.resume();
    } catch (...) {
      going_on = outer;
      throw;
    }
    going_on = outer;
  }

  void check_size(const ::llvm::Module& module) {
    if (!most_instructions) return;
    if (question) counted += static_cast<std::size_t>(question->advisor->take_growth());
    const bool is_known = question && decisions.size() % questions_between_counts != 0;
    if (is_known && counted <= most_instructions) return;
    counted = static_cast<std::size_t>(count_instructions(module));
    if (counted <= most_instructions) return;
    throw TooLargeError(std::to_string(counted) + " instructions, beyond the limit of " +
                        std::to_string(most_instructions));
  }

  static thread_local Run* going_on;

  std::unique_ptr<PassRunner> runner;
  Coroutine coroutine;
  std::optional<InlineQuestion> question;
  InlineAnswer answer = InlineAnswer::standard;
  std::vector<bool> decisions;
  bool is_given_up = false;
  std::size_t most_instructions = 0;
  std::size_t counted = 0;  // an upper bound
};

thread_local Inlining::Run* Inlining::Run::going_on = nullptr;

std::optional<InlineAnswer> parse_inline_answer(std::string_view name) {
  if (name == "default") return InlineAnswer::standard;
  if (name == "inline") return InlineAnswer::inlined;
  if (name == "no-inline") return InlineAnswer::separate;
  return std::nullopt;
}

std::vector<std::string> inline_feature_names() {
  return {std::begin(inlining_names), std::end(inlining_names)};
}

Inlining::Inlining(Module& module, Level level) : module_(module) {
  module_.change([&](::llvm::Module& ir) {
    mark_for(ir, level);
    run_ = make_fragile<Run>(ir, level);
  });
  go_on();
}

Inlining::~Inlining() {
  if (!run_ || run_->coroutine.is_over()) return;
  run_->is_given_up = true;
  try {
    go_on();
  } catch (...) {  // nothing can report it, and all objects that it may have damaged are leaked
    (void)run_.release();
  }
}

// After a fatal error LLVM's data is in an unknown state, including analyses and the stack.
void Inlining::go_on() {
  try {
    module_.change([&](::llvm::Module& module) {
      run_->go_on();
      if (!run_->is_given_up) run_->check_size(module);
    });
  } catch (const GivenUp&) {
    run_.reset();
    throw;
  }
}

bool Inlining::is_over() const { return !run_ || run_->coroutine.is_over(); }

void Inlining::answer(InlineAnswer answer) {
  if (is_over()) throw std::logic_error("the pipeline is over: there is no question to answer");
  run_->answer = answer;
  go_on();
}

CallSite Inlining::call_site() const {
  if (is_over()) throw std::logic_error("the pipeline is over: there is no call");
  return described(*run_->question->call, run_->decisions.size());
}

InlineFeatures Inlining::features() const {
  if (is_over()) throw std::logic_error("the pipeline is over: there is no call");
  return run_->question->advisor->features(*run_->question);
}

const std::vector<bool>& Inlining::decisions() const {
  static const std::vector<bool> none;
  return run_ ? run_->decisions : none;
}

void Inlining::limit_instructions(std::size_t most) {
  if (run_) run_->most_instructions = most;
  if (run_) run_->counted = most + (most != 0);  // unknown: counted at the next question
}

}  // namespace compiler_gym::llvm
