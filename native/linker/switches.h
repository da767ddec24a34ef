// The settings in the environment variable COMPILER_GYM_SIZE, and the counters that they request.
//
// A plug-in is loaded after the linker has read its options, so it cannot add any; see
// docs/decisions/0063-passes-inside-the-stock-linker.md. The value is a list separated by commas:
//
//   COMPILER_GYM_SIZE=rules=-exchange,limit=123,stats=/tmp/sizes.tsv
//
// `rules=-a+b` turns rules off, `rules=a+b` leaves only these on. `limit` allows only the first
// rewrites, over all functions; `stats` names a file that receives a line with the count of each
// rule. `decisions` names a file of formulas, see inputs.h; `encoding` a shared object with a rule,
// see encodings/rules.h.
// `frames=non-leaf` gives a frame pointer to each function with calls that was compiled without.
// `effort` limits the code generated for comparison, in per cent of the program's: 0 turns the
// choice off, and from 200 on, settings that seldom save bytes are tried, too. `choices` names a
// file that receives a line for each function with a choice.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace compiler_gym::linker {

class Switches {
 public:
  // The switches of this process. An error in the variable ends the process with a message.
  static Switches& get();

  explicit Switches(llvm::StringRef text);

  // Return whether the rule is on. Thread safe, for ThinLTO links.
  bool allows(llvm::StringRef rule) const;
  // End the process with a message if the variable names a rule that is not one of these.
  void check_rules(llvm::ArrayRef<llvm::StringRef> names) const;
  const std::string& decisions_path() const { return decisions_path_; }
  const std::string& encoding_path() const { return encoding_path_; }
  // Return whether another rewrite is within the limit, and count it if so.
  bool spend();
  void count(llvm::StringRef rule, llvm::StringRef function);
  unsigned effort() const { return effort_; }
  const std::string& frames() const { return frames_; }
  // Add a line to the list of choices, if one is requested.
  void note(llvm::StringRef choice);
  // Write the counts so far. Linkers exit without running destructors.
  void report();

  // True while this thread generates code only to measure it: trials are not counted or limited.
  static thread_local bool is_trial;

 private:
  bool only_listed_ = false;
  std::map<std::string, bool, std::less<>> listed_;
  std::uint64_t limit_ = UINT64_MAX;
  std::uint64_t spent_ = 0;
  std::string stats_path_;
  std::string decisions_path_;
  std::string encoding_path_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
  std::string frames_;
  std::string last_;
  unsigned effort_ = 120;
  std::unique_ptr<llvm::raw_fd_ostream> choices_;
  std::mutex mutex_;
};

}  // namespace compiler_gym::linker
