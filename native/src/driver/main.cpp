// compiler-gym-cc and compiler-gym-cxx: a compiler whose links a plan may change, or whose calls a
// recipe does, for builds that call it thousands of times. It becomes the real compiler where the
// plan has no say, remembers what an object was made of, and calls the library for a link that the
// plan names, and for no other.

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "fat.h"
#include "files.h"
#include "running.h"

namespace compiler_gym::driver {

namespace {

constexpr char end = '\0';  // of a word, in what is remembered

// What the library says of a plan that it has read and found permitted.
struct Checked {
  Words compilers[2];  // of C, and of C++
  Words names;         // last parts of the paths of the linked files that it is for
  Words variables;     // NAME=VALUE, where the environment says nothing else
  Words objects;       // the folder that remembers objects: one word
};

// Reads lists, each ended by an empty word; nothing, where the last has no end.
std::vector<Words> lists_in(std::string_view text) {
  std::vector<Words> lists(1);
  for (size_t at; (at = text.find(end)) != text.npos; text.remove_prefix(at + 1))
    if (at)
      lists.back().emplace_back(text.substr(0, at));
    else
      lists.emplace_back();
  const bool is_whole = text.empty() && lists.back().empty();
  lists.resize(is_whole ? lists.size() - 1 : 0);
  return lists;
}

std::optional<Checked> checked_in(std::string_view text) {
  const std::vector<Words> lists = lists_in(text);
  if (lists.size() < 5 || lists[0].empty() || lists[1].empty() || lists[4].size() != 1) return {};
  return Checked{{lists[0], lists[1]}, lists[2], lists[3], lists[4]};
}

// Returns the command of the library: the one beside this program, or the one on PATH.
std::string library(const std::string& self) {
  const std::string beside = self.substr(0, self.rfind('/') + 1) + "compiler-gym";
  return access(beside.c_str(), X_OK) ? "compiler-gym" : beside;
}

// Returns what of the environment decides which compiler is meant.
std::string which_compiler() {
  std::string text;
  for (const char* name : {"PATH", "COMPILER_GYM_CLANG"}) {
    const char* value = getenv(name);
    text += std::string(value ? value : "") + end;
  }
  return text;
}

// Returns what `path` holds, where it belongs to the user.
std::optional<std::string> read_own(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) || facts.st_uid != geteuid()) return {};
  return read_regular(path);
}

// Returns what the library says of the plan, which it is asked once for each state of the file.
std::optional<Checked> check(const std::string& self, const std::string& plan, int& status) {
  struct stat facts, own;
  std::string kept;
  if (!stat(plan.c_str(), &facts) && !stat(self.c_str(), &own)) {
    const std::string key = stamp(facts) + stamp(own) + which_compiler();
    kept = cache_folder() + "/checked-plans/" + sha256(key);
    if (const auto text = read_own(kept))
      if (const auto checked = checked_in(*text)) return checked;
  }
  const std::string text = printed_by({library(self), "cc", "--check-plan", plan}, status);
  if (status) return {};
  const auto checked = checked_in(text);
  if (checked && !kept.empty()) write_whole(kept, text);
  if (!checked) status = 2;
  return checked;
}

// Remembers what the objects were made of that a command, begun at `start`, has left.
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
    std::string text = std::string(here) + end + output + end;
    for (const std::string& word : words) text += word + end;
    const std::string name = sha256(*data);
    write_whole(folder + '/' + name.substr(0, 2) + '/' + name.substr(2), text);
  }
  free(here);
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

int drive(const std::string& self, const std::string& plan, bool is_cxx, const Words& arguments) {
  int status = 0;
  const auto checked = check(self, plan, status);
  if (!checked) return status;
  Words compiler = checked->compilers[is_cxx];
  const char* other = getenv(is_cxx ? "COMPILER_GYM_CXX" : "COMPILER_GYM_CC");
  if (const Words words = words_in(other ? other : ""); !words.empty()) compiler = words;
  for (const std::string& variable : checked->variables) {
    const size_t at = variable.find('=');
    setenv(variable.substr(0, at).c_str(), variable.substr(at + 1).c_str(), 0);
  }
  const Words command = joined(compiler, arguments);
  const Words whole = expanded(arguments);
  const Words all = joined(compiler, whole);
  const Call call = call_of(whole);
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
  clock_gettime(CLOCK_REALTIME_COARSE, &start);  // the clock of files
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

// The first of the two lists that the library keeps for a kind of call: the words in front of its
// arguments, and those behind them.
enum Template : size_t { object = 3, nothing = 5, program = 7, question = 9 };

bool is_source(const std::string& name) {
  return std::ranges::any_of(std::array{".c", ".cc", ".cpp", ".cxx"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

// Returns whether the library has nothing to decide about a call that is not in `set_apart` by the
// beginning of a word, or by the whole word if it ends in a $.
bool is_plain(const Words& arguments, const Call& call, bool is_cxx, const Words& set_apart) {
  const bool makes_nothing = call.kind == Kind::other || call.inputs.empty();
  const auto is_rare = [&](std::string word) {
    if (word.starts_with("-Xclang=")) word.erase(0, word.find('=') + 1);
    if (std::ranges::any_of(set_apart, [&](const std::string& flag) {
          return flag.ends_with('$') ? word + '$' == flag : word.starts_with(flag);
        }))
      return true;
    if (call.kind == Kind::link && (word.starts_with("-fuse-ld") || word.starts_with("--ld-path") ||
                                    word.find("-save-temps") != word.npos))
      return true;
    return word == "--" || word == "-r" || word == "-emit-llvm" || word == "-###" ||
           word.starts_with('@') || word.starts_with("-x") || word.starts_with("-dump") ||
           (makes_nothing &&
            (word.starts_with("-include") || word.starts_with("-Wl,") || word == "-Xlinker"));
  };
  const auto is_usual = [&](const std::string& name) {
    if (is_source(name)) return is_cxx || name.ends_with(".c");
    return call.kind == Kind::link &&
           (name.ends_with(".o") || name.ends_with(".a") || name.ends_with(".so"));
  };
  return std::ranges::none_of(arguments, is_rare) && std::ranges::all_of(call.inputs, is_usual) &&
         !(call.kind == Kind::object && makes_nothing);
}

// Returns whether a build system asks something with these words, and may read what is printed.
bool is_question(const Words& words, const Words& marks) {
  char* const here = getcwd(nullptr, 0);
  std::string text = here ? here : "";
  free(here);
  for (const std::string& word : words) text += ' ' + word;
  return std::ranges::any_of(marks,
                             [&](const std::string& mark) { return text.find(mark) != text.npos; });
}

// Runs the compiler `words`, and finishes the objects that it leaves; returns the status. A line
// on standard error says what is not optimised with the whole program, unless `is_quiet`.
int compile(const Words& words, bool is_cxx, bool is_quiet) {
  Words plain, first = words;
  for (const std::string& word : words)
    if (word != "-ffat-lto-objects" && word != "-fembed-bitcode=bitcode")
      plain.push_back(word);
    else if (word.starts_with("-fembed") && !plain.empty())
      plain.pop_back();  // its -Xclang
  // clang cannot write the bitcode of assembler that needs other files, though it compiles that.
  // Standard input cannot be read twice.
  const bool is_once = plain == words || std::ranges::find(words, "-") != words.end();
  const auto at = std::ranges::find(first, "--start-no-unused-arguments");
  const bool has_say = std::ranges::any_of(words, [](const std::string& word) {
    return word.find("color-diagnostics") != word.npos || word.starts_with("-fdiagnostics-color");
  });
  if (isatty(STDERR_FILENO) && !has_say) first.insert(at, "-fcolor-diagnostics");
  int status = is_once ? run(words) : run_before(first, [](int status) { return status == 0; });
  const bool is_plain = status && !is_once;
  if (is_plain) status = run(plain);
  if (status) return status;
  for (const std::string& output : call_of(expanded({words.begin() + 1, words.end()})).outputs) {
    std::string why = finish_object(output);
    if (is_plain) why = "assembler that clang cannot put into bitcode";
    if (why.empty() || is_quiet) continue;
    const std::string text = std::string("compiler-gym ") + (is_cxx ? "cxx" : "cc") + ": " +
                             output + ": compiled without link-time optimisation: it has " + why +
                             '\n';
    fputs(text.c_str(), stderr);
  }
  return 0;
}

// Links objects by `words`, or by `plain` if that fails: objects also hold machine code.
int link(const Words& words, const Words& plain, const Call& call, bool is_cxx) {
  if (!run_before(words, [](int status) { return status == 0; })) return 0;
  const int status = run(plain);
  if (status == 0)
    fprintf(stderr, "compiler-gym %s: %s: linked without the recipe, which failed\n",
            is_cxx ? "cxx" : "cc", call.outputs[0].c_str());
  return status;
}

// Compiles the sources of a call that links, each as by `before`, -c and `after`; puts the objects,
// which are removed at the end of this process, in the places of the sources. Returns the status,
// or nothing, without doing anything, if compiling and linking cannot be separated.
std::optional<int> compile_sources(Words& arguments, const Call& call, bool is_cxx,
                                   const Words& before, const Words& after) {
  static constexpr std::array apart = {"-M",           "-Wp,",         "-Xarch", "-gsplit-dwarf",
                                       "-ftime-trace", "-fstack-usage"};
  for (const std::string& word : arguments)
    if (std::ranges::any_of(apart, [&](const char* start) { return word.starts_with(start); }))
      return {};
  Words options;
  for (size_t at = 0; at < arguments.size(); ++at)
    if (arguments[at] == "-o")
      ++at;
    else if (!arguments[at].starts_with("-o") &&
             std::ranges::find(call.inputs, arguments[at]) == call.inputs.end())
      options.push_back(arguments[at]);
  const std::string folder = make_scratch();
  if (folder.empty()) return {};
  int count = 0;
  for (std::string& word : arguments) {
    if (!is_source(word) || std::ranges::find(call.inputs, word) == call.inputs.end()) continue;
    const std::string made = folder + "/unit-" + std::to_string(count++) + ".o";
    const Words unit =
        joined(joined(before, options), {"-Qunused-arguments", "-c", word, "-o", made});
    if (const int status = compile(joined(unit, after), is_cxx, false)) return status;
    word = made;
  }
  return 0;
}

// Compiles or links by what the library has kept of a recipe or of a policy's recipe, and returns
// the status; nothing where nothing is known yet, something has changed, or the library has a say.
std::optional<int> compile_by_known(const std::string& kind, const std::string& name, bool is_cxx,
                                    Words arguments) {
  const bool is_policy = kind == "--policy";
  const auto is_own = [](const std::string& word) {
    return word == "--never-larger" || word == "--no-never-larger" || word == "--old-loaders" ||
           word == "--no-plugin";
  };
  if (is_policy) arguments.erase(arguments.begin(), std::ranges::find_if_not(arguments, is_own));
  const char* keeping = getenv("COMPILER_GYM_CC_OUTPUT");
  const Call call = call_of(arguments);
  if (keeping && *keeping) return {};
  std::string key;
  for (const std::string& part :
       {std::string(COMPILER_GYM_VERSION), (is_policy ? "policy " : "") + name,
        std::string(is_cxx ? "c++" : "cc")})
    key += part + end;
  const auto text = read_own(cache_folder() + "/recipe-words/" + sha256(key + which_compiler()));
  const std::vector<Words> lists = text ? lists_in(*text) : std::vector<Words>();
  if (lists.size() <= question + 1 || lists[question].empty()) return {};
  const Words &set_apart = lists[1], &marks = lists[2];
  if (!is_plain(arguments, call, is_cxx, set_apart)) return {};
  for (size_t at = 0; at + 1 < lists[0].size(); at += 2) {
    struct stat facts;
    if (stat(lists[0][at].c_str(), &facts) || stamp(facts) != lists[0][at + 1]) return {};
  }
  const auto words_for = [&](Template each) {
    return joined(joined(lists[each], arguments), lists[each + 1]);
  };
  const bool is_asked = is_question(arguments, marks);
  if (call.kind == Kind::object) return compile(words_for(object), is_cxx, is_asked);
  const bool is_link = call.kind == Kind::link && !call.inputs.empty();
  if (is_link && !is_asked) {
    if (is_policy) return {};
    const auto status = compile_sources(arguments, call, is_cxx, lists[object], lists[object + 1]);
    if (!status || *status) return status;
    return link(words_for(program), words_for(question), call, is_cxx);
  }
  become(words_for(is_link ? question : nothing));
  return {};
}

int run_main(int count, char** texts) {
  const bool is_cxx = base_name(texts[0]).ends_with("xx");
  char* const found = realpath("/proc/self/exe", nullptr);
  const std::string self = found ? found : texts[0];
  free(found);
  const Words words(texts + 1, texts + count);
  if (words.size() > 1 && words[0] == "--plan")
    return drive(self, words[1], is_cxx, {words.begin() + 2, words.end()});
  const bool is_named = words.size() > 1 && (words[0] == "--recipe" || words[0] == "--policy");
  if (is_named) {
    const Words arguments(words.begin() + 2, words.end());
    if (const auto status = compile_by_known(words[0], words[1], is_cxx, arguments)) return *status;
  }
  // As the library asks for it, with the whole command of a compiler.
  if (words.size() > 1 && (words[0] == "--compile" || words[0] == "--compile-quietly"))
    return compile({words.begin() + 1, words.end()}, is_cxx, words[0] != "--compile");
  // For what takes a compiler's name and no words behind it.
  if (const char* plan = getenv("COMPILER_GYM_PLAN");
      plan && *plan && !is_named && (words.empty() || words[0] != "--plan"))
    return drive(self, plan, is_cxx, words);
  // rustc can pass no option in front of its own. The library finds out what it links.
  const bool is_rust =
      std::ranges::any_of(words, [](const std::string& word) { return word.ends_with(".rcgu.o"); });
  const bool is_ours = is_rust || words.empty() || words[0] == "--help" || words[0] == "--plan" ||
                       is_named || words[0] == "--check-plan" || words[0] == "--apply-plan";
  if (const char* folder = getenv("COMPILER_GYM_CC_OUTPUT"); !is_ours && !(folder && *folder)) {
    const char* other = getenv(is_cxx ? "COMPILER_GYM_CXX" : "COMPILER_GYM_CC");
    if (!(other && *other)) {
      for (const char* name : {is_cxx ? "clang++-22" : "clang-22", is_cxx ? "clang++" : "clang",
                               is_cxx ? "c++" : "cc"})
        become(joined({name}, words));
    } else if (const Words compiler = words_in(other); !compiler.empty()) {
      become(joined(compiler, words));
    }
  }
  const Words recorded = joined({library(self), is_cxx ? "cxx" : "cc"}, words);  // or says why
  become(recorded);
  return cannot_run(recorded);
}

}  // namespace

}  // namespace compiler_gym::driver

int main(int count, char** texts) { return compiler_gym::driver::run_main(count, texts); }
