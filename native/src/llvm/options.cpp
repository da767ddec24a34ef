#include "options.h"

#include <pthread.h>

#include <map>
#include <new>
#include <shared_mutex>

#include "compiler_gym/llvm/errors.h"

namespace compiler_gym::llvm {

::llvm::cl::Option* assign_option(const std::string& name, const std::string& value) {
  auto* const option = ::llvm::cl::getRegisteredOptions().lookup(name);
  if (!option) throw UnsupportedError("this LLVM has no option -" + name);
  option->reset();
  if (option->addOccurrence(0, name, value)) {
    option->reset();
    throw UnsupportedError("LLVM refuses the value '" + value + "' of its option -" + name);
  }
  return option;
}

namespace {

std::shared_mutex& options_lock() {
  static std::shared_mutex lock;
  return lock;
}

// The number of guards that this thread holds: the first takes the lock, the last releases it.
thread_local int held = 0;

// A process is forked only while no other options are set, and the child's thread keeps its locks.
[[maybe_unused]] const int watches_forks = pthread_atfork(
    [] {
      if (held == 0) options_lock().lock_shared();
    },
    [] {
      if (held == 0) options_lock().unlock_shared();
    },
    [] {
      new (&options_lock()) std::shared_mutex;
      if (held > 0) options_lock().lock_shared();
    });

// The options that were set for the rest of the process; only changed under OptionsAlone.
std::map<std::string, std::string>& lasting() {
  static std::map<std::string, std::string> values;
  return values;
}

bool is_set(const std::string& name, const std::string& value) {
  const UsualOptions usual;
  const auto known = lasting().find(name);
  return known != lasting().end() && known->second == value;
}

}  // namespace

void set_option(const std::string& name, const std::string& value) {
  if (is_set(name, value)) return;
  const OptionsAlone alone;
  lasting().erase(name);
  assign_option(name, value);
  lasting()[name] = value;
}

UsualOptions::UsualOptions() {
  if (held == 0) options_lock().lock_shared();
  ++held;
}

UsualOptions::~UsualOptions() {
  if (--held == 0) options_lock().unlock_shared();
}

OptionsAlone::OptionsAlone() : outer_(give_options_back(0)) {
  options_lock().lock();
  held = 1;
}

OptionsAlone::~OptionsAlone() {
  held = 0;
  options_lock().unlock();
  take_options(outer_);
}

int options_held() { return held; }

void take_options(int inner) {
  if (held == 0 && inner > 0) options_lock().lock_shared();
  held += inner;
}

int give_options_back(int outer) {
  const int inner = held - outer;
  held = outer;
  if (outer == 0 && inner > 0) options_lock().unlock_shared();
  return inner;
}

OtherOptions::OtherOptions(const OptionValues& values) {
  try {
    for (const auto& [name, value] : values) set(name, value);
  } catch (...) {
    restore();
    throw;
  }
}

OtherOptions::~OtherOptions() { restore(); }

void OtherOptions::set(const std::string& name, const std::string& value) {
  auto* const option = ::llvm::cl::getRegisteredOptions().lookup(name);
  if (!option) throw PipelineError("this LLVM has no option -" + name);
  if (option->getNumOccurrences()) {
    throw PipelineError("option -" + name + " is set twice, or for the whole process");
  }
  set_.push_back(name);
  if (option->addOccurrence(0, name, value)) {
    throw PipelineError("LLVM refuses the value '" + value + "' of its option -" + name);
  }
}

void OtherOptions::restore() {
  for (const auto& name : set_) ::llvm::cl::getRegisteredOptions().lookup(name)->reset();
  set_.clear();
}

}  // namespace compiler_gym::llvm
