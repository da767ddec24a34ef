#include "compiler_gym/llvm/module.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "change_detector.h"
#include "compiler_gym/llvm/codegen.h"
#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/features.h"
#include "compiler_gym/llvm/retarget.h"
#include "compiler_gym/llvm/runtime.h"
#include "compiler_gym/llvm/trials.h"
#include "compiler_gym/llvm/whole_program.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "options.h"
#include "pass_runner.h"
#include "plugins.h"
#include "reader.h"
#include "target.h"
#include "text_stream.h"

namespace compiler_gym::llvm {

namespace {

// Return whether a pipeline is a single pass: with several, one may undo the changes of another.
bool is_one_pass(::llvm::StringRef pipeline) {
  int depth = 0;
  for (const char letter : pipeline) {
    depth += (letter == '<') - (letter == '>');
    if (letter == ',' && !depth) return false;
  }
  for (const auto* several :
       {"default<", "lto", "repeat<", "devirt<", "wrapper", "module-inline"}) {
    if (pipeline.contains(several)) return false;
  }
  return true;
}

// Repeat LLVM's change to a module that it reads from bitcode: declarations of intrinsics get
// LLVM's attributes, regardless of what passes have done to them. Return whether that changed
// anything.
bool declare_intrinsics_anew(::llvm::Module& module) {
  bool changed = false;
  for (auto& function : module) {
    const auto intrinsic = function.getIntrinsicID();
    if (intrinsic == ::llvm::Intrinsic::not_intrinsic) continue;
    const auto attributes = ::llvm::Intrinsic::getAttributes(module.getContext(), intrinsic,
                                                             function.getFunctionType());
    if (attributes == function.getAttributes()) continue;
    function.setAttributes(attributes);
    changed = true;
  }
  return changed;
}

// The programs that were verified most recently in this process, as hashes of their bytes.
std::mutex valid_programs_mutex;
std::deque<::llvm::XXH128_hash_t> valid_programs;
constexpr std::size_t most_valid_programs = 256;

bool is_known_valid(const ::llvm::XXH128_hash_t& key) {
  const std::lock_guard lock(valid_programs_mutex);
  return std::ranges::find(valid_programs, key) != valid_programs.end();
}

void remember_valid(const ::llvm::XXH128_hash_t& key) {
  const std::lock_guard lock(valid_programs_mutex);
  valid_programs.push_front(key);
  if (valid_programs.size() > most_valid_programs) valid_programs.pop_back();
}

}  // namespace

struct Module::State {
  State() { collect_errors(context, reported_errors); }

  PassRunner& runner() {
    if (!kept_runner) {
      const Timed timed(timing.get(), PartKind::surroundings, "set up passes");
      kept_runner.emplace(target_machine_for(*module), module->getTargetTriple(),
                          ::llvm::PipelineTuningOptions(), add_plugin_passes);
      detector.emplace([this] { return current_hash(); }, timing.get());
      detector->listen_to(kept_runner->callbacks());
      if (timing) timing->listen_to(kept_runner->callbacks());
    }
    return *kept_runner;
  }

  ::llvm::ModulePassManager parse(const std::string& pipeline) {
    auto& runner = this->runner();
    const Timed timed(timing.get(), PartKind::surroundings, "read the pipeline");
    return runner.parse(pipeline);
  }

  void run(::llvm::ModulePassManager passes) {
    const Timed timed(timing.get(), PartKind::surroundings, "run it and forget analyses");
    runner().run(*module, std::move(passes));
  }

  const IrHash& current_hash() {
    const Timed timed(timing.get(), PartKind::detection, "fingerprint");
    if (!kept_hash) {
      kept_hash = hasher(*module);
      kept_count = hasher.instruction_count();
    }
    return *kept_hash;
  }

  std::size_t current_count() {
    if (!kept_count) kept_count = count_instructions(*module);
    return *kept_count;
  }

  // Call this after changes without a listener.
  void forget() {
    ++version;
    kept_hash.reset();
    kept_count.reset();
  }

  void throw_reported_errors() {
    if (reported_errors.empty()) return;
    const std::string message = trimmed(std::exchange(reported_errors, {}));
    throw DiagnosticError(message);
  }

  bool is_too_large() { return most_instructions && current_count() > most_instructions; }

  void throw_if_too_large() {
    if (!is_too_large()) return;
    throw TooLargeError(std::to_string(current_count()) + " instructions, beyond the limit of " +
                        std::to_string(most_instructions));
  }

  bool run(const std::string& pipeline, bool is_asked,
           ChangeDetector::Listener listener = nullptr) {
    return run(parse(pipeline), is_one_pass(pipeline), is_asked, std::move(listener));
  }

  bool run(::llvm::ModulePassManager passes, bool is_one_pass, bool is_asked,
           ChangeDetector::Listener listener = nullptr) {
    ++version;
    detector->begin(is_one_pass, is_asked, std::move(listener));
    run(std::move(passes));
    throw_reported_errors();
    // The cached state is valid until a pass reports a change.
    const auto hash = kept_hash;
    const auto count = kept_count;
    if (detector->any_claim()) {
      kept_hash.reset();
      kept_count.reset();
    }
    const bool changed = detector->changed();
    if (!changed) {
      kept_hash = hash;
      kept_count = count;
    } else {
      throw_if_too_large();
    }
    return changed;
  }

  bool declare_anew() {
    if (!declare_intrinsics_anew(*module)) return false;
    forget();
    return true;
  }

  // Like a separate run of `opt`.
  bool run_alone(const std::string& pipeline) {
    const IrHash before = current_hash();
    const bool was_edited = declare_anew();
    const bool changed = run(pipeline, /*is_asked=*/true);
    const bool is_edited = declare_anew();
    return was_edited || is_edited ? current_hash() != before : changed;
  }

  // Destroyed in reverse: analyses before the module, the module before its context.
  std::string reported_errors;
  ::llvm::LLVMContext context;
  Fragile<::llvm::Module> module;
  std::unique_ptr<PassTiming> timing;
  std::optional<ChangeDetector> detector;
  std::optional<PassRunner> kept_runner;
  Hasher hasher;
  std::optional<IrHash> kept_hash;
  std::optional<std::size_t> kept_count;
  std::size_t most_instructions = 0;
  std::uint64_t version = 0;
};

// After a fatal error the module is lost. After any other error, passes may have run: cached state
// is dropped.
template <class Work>
auto Module::with_state(Work&& work) {
  if (!state_) throw FatalError("this module was lost to an earlier error: " + lost_because_);
  const UsualOptions usual;
  try {
    return work(*state_);
  } catch (const FatalError& error) {
    lost_because_ = error.what();
    state_.reset();
    throw;
  } catch (const OutOfMemory&) {
    lost_because_ = "out of memory";
    state_.reset();
    throw;
  } catch (...) {
    if (!state_) throw;
    if (state_->module) {
      state_->forget();
    } else {
      lost_because_ = "it contains no program";
      state_.reset();
    }
    throw;
  }
}

Module::Module(std::string_view data, const std::string& name) {
  start();
  state_ = make_fragile<State>();
  try {
    with_state([&](State& state) {
      state.module = read_module(data, name, state.context);
      // Each reset reads the same program, and verifying takes up to a quarter of that time.
      const auto key =
          ::llvm::xxh3_128bits(::llvm::arrayRefFromStringRef({data.data(), data.size()}));
      if (is_known_valid(key)) return;
      const auto complaints = find_invalid_ir(*state.module);
      if (!complaints.empty()) throw InitError(complaints);
      remember_valid(key);
    });
  } catch (const FatalError& error) {
    throw InitError(error.what());
  }
}

Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

bool Module::run(const std::string& pipeline) {
  return with_state([&](State& state) { return state.run(pipeline, /*is_asked=*/true); });
}

bool Module::run_on(const std::string& pipeline, const std::vector<std::string>& functions) {
  return with_state([&](State& state) {
    auto passes = state.runner().parse_on(pipeline, find_functions(*state.module, functions));
    return state.run(std::move(passes), is_one_pass(pipeline), /*is_asked=*/true);
  });
}

bool Module::apply(const std::string& pipeline) {
  return with_state([&](State& state) {
    // Only a change counts against the limit, and growth beyond it is a change.
    return state.run(pipeline, /*is_asked=*/state.is_too_large());
  });
}

bool Module::run_with(const std::string& pipeline, const OptionValues& options) {
  const OtherOptions other(options);
  return with_state([&](State& state) { return state.run_alone(pipeline); });
}

PassRecord Module::run_recorded(const std::string& pipeline, const OptionValues& options) {
  PassRecord record;
  std::optional<OtherOptions> other;
  if (!options.empty()) other.emplace(options);
  const auto before = with_state([](State& state) { return Snapshot(*state.module); });
  with_state([&](State& state) {
    const RemarkCollector collector(state.context, record.remarks);
    record.changed = other ? state.run_alone(pipeline) : run(pipeline);
  });
  inspect([&](const ::llvm::Module& now) { before.compare(now, record); });
  return record;
}

WatchedRun Module::run_watched(const std::string& pipeline) {
  return with_state([&](State& state) {
    WatchedRun found;
    const IrHash before = state.hasher(*state.module);
    IrHash last = before;
    const auto note = [&](::llvm::StringRef pass, bool vouched) {
      const IrHash now = state.hasher(*state.module);
      ++found.visits[{pass.str(), vouched, now != last}];
      last = now;
    };
    found.changed = state.run(pipeline, /*is_asked=*/true, note);
    const IrHash after = state.hasher(*state.module);
    found.differs = after != before;
    found.holds =
        state.current_hash() == after && state.current_count() == count_instructions(*state.module);
    // A wrong answer invalidates the cached state.
    if (!found.holds || found.differs != found.changed) state.forget();
    return found;
  });
}

void Module::time_passes(bool is_on) {
  with_state([&](State& state) {
    state.kept_runner.reset();  // the next runner registers exactly the callbacks that it needs
    state.timing = is_on ? std::make_unique<PassTiming>() : nullptr;
  });
}

std::vector<TimedPart> Module::take_times() {
  return with_state(
      [](State& state) { return state.timing ? state.timing->take() : std::vector<TimedPart>(); });
}

void Module::limit_instructions(std::size_t most) {
  with_state([&](State& state) { state.most_instructions = most; });
}

std::string Module::bitcode() {
  return with_state([](State& state) { return bitcode_of(*state.module); });
}

std::string Module::text() {
  return with_state([](State& state) {
    std::string text;
    {
      TextStream out(text);
      state.module->print(out, nullptr);
    }
    const bool names_a_file = ::llvm::StringRef(text).starts_with("; ModuleID");
    if (names_a_file) text.erase(0, text.find('\n') + 1);
    return text;
  });
}

IrHash Module::hash() {
  return with_state([](State& state) { return state.current_hash(); });
}

std::size_t Module::instruction_count() {
  return with_state([](State& state) { return state.current_count(); });
}

void Module::verify() {
  with_state([](State& state) {
    const auto complaints = find_invalid_ir(*state.module);
    if (!complaints.empty()) throw InvalidIrError(complaints);
  });
}

ChosenOptions Module::chosen_options() {
  return with_state([](State& state) { return read_chosen_options(*state.module); });
}

void Module::set_goal(Goal goal) {
  with_state([&](State& state) {
    state.forget();
    llvm::set_goal(*state.module, goal);
  });
}

void Module::apply_level(Level level) {
  with_state([&](State& state) {
    state.forget();
    llvm::apply_level(*state.module, level);
    state.throw_reported_errors();
  });
}

void Module::change(const std::function<void(::llvm::Module&)>& work) {
  with_state([&](State& state) {
    state.forget();
    work(*state.module);
    state.throw_reported_errors();
  });
}

void Module::apply_linked_level(Level level, const std::vector<std::string>& keep) {
  with_state([&](State& state) {
    check_whole_program(*state.module, keep);
    state.forget();
    state.kept_runner.reset();  // it refers to the module that is destroyed
    state.module = run_linked_level(std::move(state.module), level, keep);
    state.throw_reported_errors();
  });
}

std::vector<std::string> Module::internalize(const std::vector<std::string>& keep) {
  return with_state([&](State& state) {
    state.forget();
    return llvm::internalize(*state.module, keep);
  });
}

bool Module::retarget(const std::string& target) {
  return with_state([&](State& state) {
    if (!llvm::retarget(*state.module, target)) return false;
    state.forget();
    state.kept_runner.reset();  // it uses the old target machine
    return true;
  });
}

Autophase Module::autophase() {
  return with_state([](State& state) { return llvm::autophase(*state.module); });
}

InstCount Module::inst_count() {
  return with_state([](State& state) { return llvm::inst_count(*state.module); });
}

std::string Module::object_code() { return emit_object(bitcode()); }

std::string Module::assembly() { return emit_assembly(bitcode()); }

std::uint64_t Module::object_text_size() { return count_text_bytes(object_code()); }

void Module::inspect(const std::function<void(const ::llvm::Module&)>& look) {
  with_state([&](State& state) { look(*state.module); });
}

bool Module::edit(const std::function<bool(::llvm::Module&)>& change) {
  return with_state([&](State& state) {
    const bool changed = change(*state.module);
    if (changed) state.forget();
    return changed;
  });
}

std::uint64_t Module::version() const { return state_ ? state_->version : 0; }

std::string Module::triple() {
  return with_state([](State& state) { return state.module->getTargetTriple().str(); });
}

std::string Module::data_layout() {
  return with_state([](State& state) { return state.module->getDataLayoutStr(); });
}

std::string Module::source_filename() {
  return with_state([](State& state) { return state.module->getSourceFileName(); });
}

}  // namespace compiler_gym::llvm
