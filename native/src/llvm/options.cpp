#include "options.h"

#include <map>
#include <mutex>
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

void set_option(const std::string& name, const std::string& value) {
  static std::mutex lock;
  static std::map<std::string, std::string> values;
  const std::lock_guard<std::mutex> guard(lock);
  const auto known = values.find(name);
  if (known != values.end() && known->second == value) return;
  values.erase(name);
  assign_option(name, value);
  values[name] = value;
}

namespace {

std::shared_mutex& everybody() {
  static std::shared_mutex lock;
  return lock;
}

// How many guards this thread holds: the first takes the lock, the last gives it back.
thread_local int held = 0;

}  // namespace

UsualOptions::UsualOptions() {
  if (held == 0) everybody().lock_shared();
  ++held;
}

UsualOptions::~UsualOptions() {
  if (--held == 0) everybody().unlock_shared();
}

OptionsAlone::OptionsAlone() : outer_(give_options_back(0)) {
  everybody().lock();
  held = 1;
}

OptionsAlone::~OptionsAlone() {
  held = 0;
  everybody().unlock();
  take_options(outer_);
}

int options_held() { return held; }

void take_options(int inner) {
  if (held == 0 && inner > 0) everybody().lock_shared();
  held += inner;
}

int give_options_back(int outer) {
  const int inner = held - outer;
  held = outer;
  if (outer == 0 && inner > 0) everybody().unlock_shared();
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
    throw PipelineError("option -" + name + " is set twice, or for all of this process");
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
