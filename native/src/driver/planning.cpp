#include "planning.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "files.h"
#include "recipe.h"
#include "running.h"

namespace compiler_gym::driver {

namespace {

// The library's answer about a plan that it has read and permitted.
struct Checked {
  Words compilers[2];  // for C, and for C++
  Words names;         // base names of the linked files that the plan covers
  Words variables;     // NAME=VALUE, unless the environment sets them
  Words objects;       // the folder with the records of objects: one word
};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::optional<Checked> checked_in(std::string_view text) {
  const std::vector<Words> lists = split_lists(text);
  if (lists.size() < 5 || lists[0].empty() || lists[1].empty() || lists[4].size() != 1) return {};
  return Checked{{lists[0], lists[1]}, lists[2], lists[3], lists[4]};
}

// Return the library's answer about the plan; the library runs once for each state of the file.
std::optional<Checked> check(const std::string& self, const std::string& plan, int& status) {
  struct stat facts, own;
  std::string kept;
  if (!stat(plan.c_str(), &facts) && !stat(self.c_str(), &own)) {
    const std::string key = stamp(facts) + stamp(own) + which_compiler();
    kept = cache_folder() + "/checked-plans/" + sha256(key);
    if (const auto text = read_own(kept))
      if (const auto checked = checked_in(*text)) return checked;
  }
  const std::string text = read_output({library(self), "cc", "--check-plan", plan}, status);
  if (status) return {};
  const auto checked = checked_in(text);
  if (checked && !kept.empty()) write_whole(kept, text);
  if (!checked) status = 2;
  return checked;
}

// Record the command, begun at `start`, for each object that it has written.
void remember(const Call& call, const Words& words, const std::string& folder,
              const timespec& start) {
  char* const here = getcwd(nullptr, 0);
  if (!here) return;
  for (const std::string& output : call.outputs) {
    struct stat facts;
    if (stat(output.c_str(), &facts)) continue;
    const timespec& made = facts.st_mtim;
    const bool is_older =
        made.tv_sec < start.tv_sec || (made.tv_sec == start.tv_sec && made.tv_nsec < start.tv_nsec);
    if (!call.output && is_older) continue;
    const auto data = read_regular(output);
    if (!data) continue;
    std::string text = std::string(here) + word_end + output + word_end;
    for (const std::string& word : words) text += word + word_end;
    const std::string name = sha256(*data);
    write_whole(folder + '/' + name.substr(0, 2) + '/' + name.substr(2), text);
  }
  free(here);
}

}  // namespace

int run_with_plan(const std::string& self, const std::string& plan, bool is_cxx,
                  const Words& arguments) {
  int status = 0;
  const auto checked = check(self, plan, status);
  if (!checked) return status;
  Words compiler = checked->compilers[is_cxx];
  const char* other = getenv(is_cxx ? "COMPILER_GYM_CXX" : "COMPILER_GYM_CC");
  if (const Words words = split_words(other ? other : ""); !words.empty()) compiler = words;
  for (const std::string& variable : checked->variables) {
    const size_t at = variable.find('=');
    setenv(variable.substr(0, at).c_str(), variable.substr(at + 1).c_str(), 0);
  }
  const Words command = joined(compiler, arguments);
  const Words whole = expand_response_files(arguments);
  const Words all = joined(compiler, whole);
  const Call call = parse_call(whole);
  const std::string_view made = base_name(call.outputs.empty() ? "" : call.outputs[0]);
  const bool is_planned =
      call.kind != Kind::object && std::ranges::find(checked->names, made) != checked->names.end();
  const char* keeping = getenv("COMPILER_GYM_CC_OUTPUT");
  const bool is_kept = keeping && *keeping;
  if (call.kind != Kind::object && !is_planned && !is_kept) {
    become(command);
    return cannot_run(command);
  }
  timespec start;
  clock_gettime(CLOCK_REALTIME_COARSE, &start);  // the clock of file times
  status = run(command);
  if (status) return status;
  if (call.kind == Kind::object) remember(call, all, checked->objects[0], start);
  if (is_planned || is_kept) {
    const Words after = joined({library(self), "cc", "--apply-plan", plan}, all);
    become(after);
    return cannot_run(after);
  }
  return 0;
}

}  // namespace compiler_gym::driver
