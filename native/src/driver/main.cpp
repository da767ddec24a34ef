// compiler-gym-cc and compiler-gym-cxx: clang with more options. The user's arguments reach clang
// unchanged; those of a recipe, a policy or a plan are added. compiler-gym-ld is the linker that
// clang then calls.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fat.h"
#include "linking.h"
#include "planning.h"
#include "recipe.h"
#include "running.h"

namespace compiler_gym::driver {

namespace {

void say(const Request& request, const std::string& text) {
  const std::string line = "compiler-gym " + request.verb + ": " + text + '\n';
  fputs(line.c_str(), stderr);
}

bool is_lld(std::string_view linker) {
  const std::string_view name = base_name(linker);
  return name.empty() || name.starts_with("lld") || name.starts_with("ld.lld") ||
         name == "compiler-gym-ld";
}

bool is_source(std::string_view name) {
  static constexpr std::array<std::string_view, 4> linked = {".o", ".a", ".so", ".lo"};
  return std::ranges::none_of(linked,
                              [&](std::string_view ending) { return name.ends_with(ending); }) &&
         name.find(".so.") == name.npos;
}

// Return whether the option `word` is in `set_apart`, as a prefix or, before a $, as a whole.
bool is_set_apart(std::string_view word, const Words& set_apart) {
  if (word.starts_with("-Xclang=")) word.remove_prefix(8);
  return std::ranges::any_of(set_apart, [&](const std::string& flag) {
    return flag.ends_with('$') ? word == std::string_view(flag).substr(0, flag.size() - 1)
                               : word.starts_with(flag);
  });
}

// A call of the compiler for a recipe or a policy.
class RecipeCall {
 public:
  RecipeCall(const Request& request, const Recipe& recipe, const std::string& self,
             const Words& arguments)
      : request_(request),
        arguments_(arguments),
        whole_(expand_response_files(arguments)),
        call_(parse_call(whole_)),
        recipe_(recipe),
        self_(self),
        compiler_(recipe.clang) {
    if (request.verb == "cxx") compiler_.push_back("--driver-mode=g++");
  }

  int run() {
    const bool is_apart = std::ranges::any_of(
        whole_, [&](const std::string& word) { return is_set_apart(word, recipe_.set_apart); });
    if (is_apart || call_.is_cut_short) return run_plainly({});
    if (call_.inputs.empty() || call_.kind == Kind::other) return answer();
    const bool has_other_linker = recipe_.linker.empty() || !is_lld(call_.linker);
    Words native = {"-Oz", "-fno-lto"};
    if (!has_other_linker && !is_partial()) native.push_back("-fuse-ld=lld");
    const bool is_native =
        call_.is_probe || std::ranges::find(whole_, "-fno-integrated-as") != whole_.end();
    if (is_native) return run_plainly(native);
    if (call_.kind == Kind::object) return compile(native);
    if (is_partial()) return run_plainly(native);
    if (!has_other_linker) return link(native);
    say(request_, call_.outputs[0] + ": linked with " +
                      (call_.linker.empty() ? "the usual linker" : call_.linker) + ", without " +
                      request_.label() + ", which needs lld");
    return run_plainly(native);
  }

 private:
  // Return whether the user wants no link-time optimisation. GNU's assembler does not know the
  // section for IR.
  bool refuses_ir() const {
    bool is_refused = false;
    for (const std::string& word : whole_) {
      if (word.starts_with("-flto")) is_refused = false;
      if (word == "-fno-lto") is_refused = true;
      if (word == "-fno-integrated-as") return true;
    }
    return is_refused;
  }

  // Partial links use the user's linker: lld and GNU ld cannot always read each other's.
  bool is_partial() const {
    return call_.kind == Kind::link && std::ranges::any_of(whole_, [](const std::string& word) {
             return word == "-r" || word == "-Wl,-r" || word == "-Wl,--relocatable";
           });
  }

  // Run a command that generates no code: precompiled headers must match our level, and queries
  // must reach the linker that links.
  int answer() const {
    Words options;
    if (uses_header()) options.push_back("-Oz");
    const bool asks_linker = std::ranges::any_of(whole_, [](const std::string& word) {
      return word.starts_with("-Wl,") || word == "-Xlinker" || word == "-###";
    });
    if (asks_linker && call_.linker.empty() && !recipe_.linker.empty())
      options.push_back("-fuse-ld=lld");
    return run_plainly(options);
  }

  bool uses_header() const {
    std::string before;
    for (std::string word : whole_) {
      if (word == "-Xclang") continue;
      if (word.starts_with("-Xclang=")) word.erase(0, 8);
      const bool is_found =
          !access((word + ".pch").c_str(), F_OK) || !access((word + ".gch").c_str(), F_OK);
      if (word == "-include-pch" || (before == "-include" && is_found)) return true;
      before = word;
    }
    return false;
  }

  // Return the command with `options` after the user's arguments; after -- there are only files.
  Words command_with(const Words& options) const {
    Words words = compiler_;
    const auto files = std::ranges::find(arguments_, "--");
    words.insert(words.end(), arguments_.begin(), files);
    if (!options.empty()) {
      words.push_back("--start-no-unused-arguments");
      words.insert(words.end(), options.begin(), options.end());
      words.push_back("--end-no-unused-arguments");
    }
    words.insert(words.end(), files, arguments_.end());
    return words;
  }

  int run_plainly(const Words& options) const {
    const Words words = command_with(options);
    if (!is_recorded()) {
      become(words);
      return cannot_run(words);
    }
    const int status = driver::run(words);
    return status ? status : record();
  }

  static bool is_recorded() {
    const char* folder = getenv("COMPILER_GYM_CC_OUTPUT");
    return folder && *folder;
  }

  // The library records which program was compiled.
  int record() const {
    if (!is_recorded()) return 0;
    Words words = {library(self_), request_.verb, "--record"};
    words.insert(words.end(), compiler_.begin(), compiler_.end());
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    become(words);
    return cannot_run(words);
  }

  // Run the command with `options`, or with `others` if that fails: clang cannot put some assembler
  // into bitcode. Standard input cannot be read twice.
  int run_or_fall_back(Words options, const Words& others, Printed& printed) const {
    if (std::ranges::find(call_.inputs, "-") != call_.inputs.end())
      return driver::run(command_with(options));
    const bool has_colour = std::ranges::any_of(whole_, [](const std::string& word) {
      return word.find("color-diagnostics") != word.npos || word.starts_with("-fdiagnostics-color");
    });
    if (isatty(STDERR_FILENO) && !has_colour) options.push_back("-fcolor-diagnostics");
    const int status = run_and_keep(command_with(options), printed);
    const bool is_full = printed.errors.find(strerror(ENOSPC)) != std::string::npos;
    if (status == 0 || is_full) {  // on a full disk, clang leaves a file behind for each attempt
      printed.show();
      printed = {};
      return status;
    }
    return driver::run(command_with(others));
  }

  int compile(const Words& native) const {
    Printed failure;
    if (const int status = run_or_fall_back(recipe_.compile, native, failure)) return status;
    for (const std::string& output : call_.outputs) {
      Finished done = finish_object(output);
      if (!done.error.empty()) {
        say(request_, "cannot write " + output + ": " + done.error);
        return 1;
      }
      if (!failure.errors.empty()) done.why_native = "assembler that clang cannot put into bitcode";
      if (!done.why_native.empty())
        say(request_,
            output + ": compiled without link-time optimisation: it has " + done.why_native);
    }
    return record();
  }

  int link(const Words& native) const {
    const bool is_rust = std::ranges::any_of(
        whole_, [](const std::string& word) { return word.ends_with(".rcgu.o"); });
    Words options = is_rust ? Words() : recipe_.compile;
    options.insert(options.end(), {"-fuse-ld=lld", "--ld-path=" + linker()});
    announce(request_);
    if (std::ranges::none_of(call_.inputs, is_source)) return run_plainly(options);
    // Clang's temporary objects get a separate folder, which marks them as fresh.
    const std::string folder = make_scratch();
    if (folder.empty()) return run_plainly(options);
    setenv("TMPDIR", folder.c_str(), 1);
    setenv("COMPILER_GYM_LINK_SCRATCH", (folder + '/').c_str(), 1);
    Printed failure;
    const int status = run_or_fall_back(options, native, failure);
    if (status) return status;
    if (!failure.errors.empty())
      say(request_, call_.outputs[0] + ": linked without " + request_.label() +
                        ", which failed: " + failure.first_error());
    return record();
  }

  std::string linker() const { return self_.substr(0, self_.rfind('/') + 1) + "compiler-gym-ld"; }

  const Request& request_;
  const Words& arguments_;
  const Words whole_;
  const Call call_;
  const Recipe& recipe_;
  const std::string& self_;
  Words compiler_;
};

int run_recipe(Request request, Words arguments, const std::string& self, bool is_rust) {
  const auto is_compilers = [&](const std::string& word) { return !is_own_option(word); };
  // rustc mixes our options with its own.
  const auto first = is_rust ? std::ranges::stable_partition(arguments, is_own_option).begin()
                             : std::ranges::find_if(arguments, is_compilers);
  if (request.kind == "policy") {
    request.own = {arguments.begin(), first};
    arguments.erase(arguments.begin(), first);
  }
  int status = 0;
  const auto recipe = find_recipe(request, self, status);
  return recipe ? RecipeCall(request, *recipe, self, arguments).run() : status;
}

// Run the compiler of the user's choice, or clang, if possible.
void become_compiler(bool is_cxx, const Words& words) {
  const auto with = [&](Words command) {
    command.insert(command.end(), words.begin(), words.end());
    become(command);
  };
  const char* other = getenv(is_cxx ? "COMPILER_GYM_CXX" : "COMPILER_GYM_CC");
  if (!(other && *other)) {
    for (const char* name :
         {is_cxx ? "clang++-22" : "clang-22", is_cxx ? "clang++" : "clang", is_cxx ? "c++" : "cc"})
      with({name});
  } else if (const Words compiler = split_words(other); !compiler.empty()) {
    with(compiler);
  }
}

int run_main(int count, char** texts) {
  const std::string_view name = base_name(texts[0]);
  const bool is_cxx = name.ends_with("xx");
  char* const found = realpath("/proc/self/exe", nullptr);
  std::string self = found ? found : texts[0];
  free(found);
  const Words words(texts + 1, texts + count);
  if (name == "compiler-gym-ld") return link(self, words);
  const std::string verb = is_cxx ? "cxx" : "cc";
  const std::string first = words.empty() ? "" : words[0];
  if (words.size() > 1 && first == "--plan")
    return run_with_plan(self, words[1], is_cxx, {words.begin() + 2, words.end()});
  const bool is_named = first == "--recipe" || first == "--policy";
  if (words.size() > 1 && is_named)
    return run_recipe({verb, first.substr(2), words[1], {}}, {words.begin() + 2, words.end()}, self,
                      false);
  // For build systems that accept a compiler's name but no arguments after it.
  if (const char* plan = getenv("COMPILER_GYM_PLAN");
      plan && *plan && !is_named && first != "--plan")
    return run_with_plan(self, plan, is_cxx, words);
  // rustc cannot pass an option before its own.
  if (std::ranges::any_of(words, [](const std::string& word) { return word.ends_with(".rcgu.o"); }))
    return run_recipe({verb, "policy", "size", {}}, words, self, true);
  const bool is_ours = words.empty() || first == "--help" || first == "--plan" || is_named ||
                       first == "--check-plan" || first == "--apply-plan";
  const char* folder = getenv("COMPILER_GYM_CC_OUTPUT");
  if (!is_ours && !(folder && *folder)) become_compiler(is_cxx, words);
  Words recorded = {library(self), verb};  // or prints the error
  recorded.insert(recorded.end(), words.begin(), words.end());
  become(recorded);
  return cannot_run(recorded);
}

}  // namespace

}  // namespace compiler_gym::driver

int main(int count, char** texts) { return compiler_gym::driver::run_main(count, texts); }
