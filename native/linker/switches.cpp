#include "switches.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/raw_ostream.h>
#include <cstdlib>

namespace compiler_gym::linker {
namespace {

// Print a message and exit: LLVM's own fatal error prints a stack and asks for a bug report.
[[noreturn]] void refuse(llvm::StringRef part) {
  llvm::errs() << "compiler_gym_size: cannot read '" << part
               << "' in COMPILER_GYM_SIZE: use rules=-NAME+NAME (off), rules=NAME+NAME (only), "
                  "limit=NUMBER, "
                  "stats=FILE, frames=non-leaf, effort=NUMBER, choices=FILE, decisions=FILE or "
                  "encoding=FILE, separated by commas\n";
  std::exit(1);
}

}  // namespace

thread_local bool Switches::is_trial = false;

Switches& Switches::get() {
  static Switches switches(llvm::StringRef(std::getenv("COMPILER_GYM_SIZE")));
  return switches;
}

Switches::Switches(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) {
    auto [key, value] = part.split('=');
    if (key == "rules") {
      only_listed_ = !value.consume_front("-");
      llvm::SmallVector<llvm::StringRef> names;
      value.split(names, '+', -1, false);
      for (llvm::StringRef name : names) listed_[name.str()] = true;
    } else if (key == "limit") {
      if (value.getAsInteger(10, limit_)) refuse(part);
    } else if (key == "stats" && !value.empty()) {
      stats_path_ = value.str();
    } else if (key == "decisions" && !value.empty()) {
      decisions_path_ = value.str();
    } else if (key == "encoding" && !value.empty()) {
      encoding_path_ = value.str();
    } else if (key == "frames" && value == "non-leaf") {
      frames_ = value.str();
    } else if (key == "effort") {
      if (value.getAsInteger(10, effort_)) refuse(part);
    } else if (key == "choices" && !value.empty()) {
      std::error_code error;
      choices_ = std::make_unique<llvm::raw_fd_ostream>(value, error);
      if (error) refuse(part);
    } else {
      refuse(part);
    }
  }
}

void Switches::note(llvm::StringRef choice) {
  if (!choices_) return;
  std::lock_guard lock(mutex_);
  *choices_ << choice << '\n';
  choices_->flush();
}

void Switches::report() {
  if (stats_path_.empty() || is_trial) return;
  std::lock_guard lock(mutex_);
  std::error_code error;
  llvm::raw_fd_ostream stats(stats_path_, error);
  for (const auto& [rule, count] : counts_) stats << rule << '\t' << count << '\n';
  if (!last_.empty()) stats << "last\t" << last_ << '\n';
}

bool Switches::allows(llvm::StringRef rule) const {
  return (listed_.find(rule) != listed_.end()) == only_listed_;
}

void Switches::check_rules(llvm::ArrayRef<llvm::StringRef> names) const {
  for (const auto& [rule, is_listed] : listed_)
    if (!llvm::is_contained(names, rule)) {
      llvm::errs() << "compiler_gym_size: no rule '" << rule << "'; use " << llvm::join(names, ", ")
                   << '\n';
      std::exit(1);
    }
}

bool Switches::spend() {
  if (is_trial) return true;
  std::lock_guard lock(mutex_);
  if (spent_ == limit_) return false;
  ++spent_;
  return true;
}

void Switches::count(llvm::StringRef rule, llvm::StringRef function) {
  if (is_trial) return;
  std::lock_guard lock(mutex_);
  ++counts_[rule.str()];
  last_ = (llvm::Twine(rule) + " in " + function).str();
}

}  // namespace compiler_gym::linker
