#include "linking.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "archive.h"
#include "arguments.h"
#include "fat.h"
#include "files.h"
#include "object.h"
#include "running.h"
#include "script.h"
#include "sizes.h"

namespace compiler_gym::driver {

namespace {

constexpr size_t few_addresses = 3;  // with fewer, packed relocations save nothing
constexpr size_t few_kilobytes = 4;  // the least saving of strip that deserves a message
constexpr std::string_view rust_object = ".rcgu.o";

// The contents of the files of a link.
struct Contents {
  bool has_ir = false;
  size_t addresses = 0;
  std::string why_native;  // the reason why the IR cannot be used, if there is one
  Words notes;             // notes about sources of the same command
};

std::string group(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string compare(const std::string& name, std::uint64_t before, std::uint64_t after) {
  if (!before) return {};
  char change[32];
  snprintf(change, sizeof change, after == before ? "%.1f %%" : "%+.1f %%",
           100.0 * (double(after) - double(before)) / double(before));
  return "; " + name + ' ' + group(before) + " (" + change + ')';
}

bool is_of_system(std::string_view path) {
  const std::string_view name = base_name(path);
  if (name.starts_with("crt") || name.ends_with("crt1.o")) return true;
  char* const real = realpath(std::string(path).c_str(), nullptr);
  const std::string whole(real ? std::string_view(real) : path);
  free(real);
  static constexpr std::array<std::string_view, 4> folders = {"/usr/lib/", "/lib/", "/usr/lib64/",
                                                              "/lib64/"};
  return std::ranges::any_of(folders,
                             [&](std::string_view folder) { return whole.starts_with(folder); });
}

bool is_script(std::string_view data) {
  return !data.starts_with("\177ELF") && !data.starts_with("BC\xC0\xDE") &&
         !data.starts_with("\xDE\xC0\x17\x0B") && !is_archive(data);
}

// Reads the files of a link to decide whether their IR may replace their machine code.
class Survey {
 public:
  // Clang's own temporary objects lie in the folder `scratch` and cannot have been edited.
  Survey(const LinkCall& call, std::string scratch) : scratch_(std::move(scratch)) {
    for (const std::string& path : call.scripts) {
      read_script(path, read_regular(path).value_or("INCLUDE"));
    }
    for (const std::string& path : call.files)
      if (!is_of_system(path)) read(path);
    for (const auto& [section, native] : native_)
      if (const auto other = optimised_.find(section); other != optimised_.end())
        refuse("the parts of " + section + " would change their order, because " + display(native) +
               " has no IR and " + display(other->second) + " has");
  }

  Contents contents;

 private:
  void refuse(const std::string& why) {
    if (contents.why_native.empty()) contents.why_native = why;
  }

  void read_script(const std::string& path, std::string_view text) {
    if (names_files(text))
      refuse("the linker script " + path + " chooses sections by the names of files");
    if (text.find("INPUT") != text.npos || text.find("GROUP") != text.npos)
      refuse("the linker script " + path + " names files to link");
  }

  void read(const std::string& path) {
    if (!scratch_.empty() && path.starts_with(scratch_))
      if (const Finished done = finish_object(path); !done.why_native.empty()) {
        contents.notes.push_back(display(path) +
                                 " is compiled without link-time optimisation: it has " +
                                 done.why_native);
      }
    const auto data = read_regular(path);
    if (!data || data->empty()) return;
    if (is_archive(*data)) {
      for_each_member(*data, path, [&](std::string_view member, std::string_view part) {
        add(path + '(' + std::string(member) + ')', part);
      });
    } else if (is_script(*data)) {
      read_script(path, *data);
    } else {
      add(path, *data);
    }
  }

  // A source of the same command is known by its name: clang appends seven letters and .o.
  std::string display(const std::string& path) const {
    if (scratch_.empty() || !path.starts_with(scratch_)) return path;
    const std::string_view name = base_name(path);
    return std::string(name.substr(0, name.rfind('-')));
  }

  void add(const std::string& name, std::string_view data) {
    const ObjectFacts facts = examine(data);
    contents.has_ir |= facts.has_ir;
    contents.addresses += facts.addresses;
    if (facts.is_edited)
      refuse(display(name) +
             " was changed after it was compiled, or compiler-gym-cc did not compile it");
    for (const std::string& section : facts.ordered)
      (facts.has_ir ? optimised_ : native_).emplace(section, name);
  }

  std::string scratch_;
  std::map<std::string, std::string> native_, optimised_;  // ordered sections: first file
};

// One link for a recipe or a policy.
class Task {
 public:
  Task(const Request& request, const Recipe& recipe, const Words& arguments)
      : request_(request),
        recipe_(recipe),
        arguments_(arguments),
        call_(read_arguments(arguments)) {
    const char* scratch = getenv("COMPILER_GYM_LINK_SCRATCH");
    contents_ = Survey(call_, scratch ? scratch : "").contents;
    for (const std::string& file : call_.files) is_rust_ |= file.ends_with(rust_object);
  }

  int run() {
    for (const std::string& note : contents_.notes) say(note);
    const std::string why = find_reason();
    if (!why.empty() || !contents_.has_ir) {
      if (!why.empty() && (contents_.has_ir || is_rust_) && !is_for_build())
        say("linked without " + request_.label() + ": " + why);
      return link_natively();
    }
    for (const std::string& problem : recipe_.problem)
      if (!request_.has("--no-plugin")) say("linked without the size plug-in: " + problem);
    is_packed_ = decide_packing();
    const bool is_compared = request_.kind == "policy" && !request_.has("--no-never-larger") &&
                             call_.is_comparable && is_replaceable(call_.output);
    return is_compared ? link_and_compare() : link_once();
  }

 private:
  std::string find_reason() const {
    if (!call_.unusual.empty()) return call_.unusual;
    if (call_.emulation != "elf_x86_64") return "it is for x86-64, not for " + call_.emulation;
    if (is_rust_) return explain_rust();
    return contents_.why_native;
  }

  // Return the reason why no plan can link objects of rustc; "" if one can.
  std::string explain_rust() const {
    bool has_core = false;
    for (const std::string& file : call_.files)
      has_core |= base_name(file).starts_with("libcore-") && file.ends_with(".rlib");
    if (!contents_.has_ir)
      return "rustc passes machine code instead of bitcode: add -Clinker-plugin-lto to RUSTFLAGS";
    if (!has_core) return {};
    return "the standard library is not part of the optimised program: set lto = \"fat\", "
           "codegen-units = 1 and incremental = false in [profile.release] of Cargo.toml";
  }

  // Return whether rustc links a program that only runs during the build, or a debug build.
  bool is_for_build() const {
    return is_rust_ &&
           (call_.rust_level == 0 || std::ranges::any_of(call_.files, [](const auto& file) {
              return base_name(file).starts_with("libproc_macro-");
            }));
  }

  bool decide_packing() const {
    const bool is_wanted = std::ranges::find(recipe_.flags, "pack") != recipe_.flags.end() &&
                           !request_.has("--old-loaders") && !call_.decides_packing;
    const bool has_libc = std::ranges::find(call_.libraries, "c") != call_.libraries.end();
    if (!is_wanted || !call_.is_dynamic || !has_libc) return false;
    if (contents_.addresses < few_addresses && !is_rust_) return false;
    // The version name that glibc defines if it can read packed relocations.
    for (const std::string& folder : call_.folders)
      if (const auto libc = read_regular(folder + "/libc.so.6"))
        return libc->find(std::string("\0GLIBC_ABI_DT_RELR\0", 19)) != libc->npos;
    return false;
  }

  // Return the user's arguments between ours. If two options conflict, lld uses the last one.
  Words make_command(const Words& before, const Words& after) const {
    Words words = recipe_.linker;
    words.insert(words.end(), recipe_.front.begin(), recipe_.front.end());
    if (is_packed_) words.insert(words.end(), {"-z", "pack-relative-relocs"});
    words.insert(words.end(), before.begin(), before.end());
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    words.insert(words.end(), after.begin(), after.end());
    return words;
  }

  Words make_plan() const {
    Words more = {recipe_.passes[is_rust_]};
    const auto add = [&](const std::string& option) {
      if (!call_.options.contains(option.substr(0, option.find('='))))
        more.insert(more.end(), {"-mllvm", '-' + option});
    };
    std::ranges::for_each(recipe_.options, add);
    if (request_.has("--minsize")) add("force-attribute=minsize");
    if (!recipe_.plugin.empty() && !request_.has("--no-plugin"))
      more.push_back("--load-pass-plugin=" + recipe_.plugin[0]);
    return make_command(more, {});
  }

  Words make_rival(const Words& more) const {
    Words words = make_command({}, more);
    // rustc has optimised its modules already: only generate code.
    if (is_rust_) words.push_back("--lto-newpm-passes=verify");
    return words;
  }

  // Return the user's own link, which uses the machine code in the objects.
  Words make_native() const {
    Words words = recipe_.linker;
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    words.push_back("--no-fat-lto-objects");
    return words;
  }

  int link_natively() const {
    const Words words = make_native();
    become(words);
    return cannot_run(words);
  }

  int link_once() {
    Printed printed;
    if (run_plan(printed)) return fail_plan(printed);
    printed.show();
    if (request_.kind == "policy") report(measure(call_.output), {}, "");
    return 0;
  }

  int link_and_compare() {
    const std::string folder = make_scratch();
    if (folder.empty()) return link_once();
    const std::string rival = folder + "/rival";
    Words more = call_.silent;
    more.insert(more.end(), {"-o", rival});
    const pid_t running = start_silently(make_rival(more));
    Printed printed;
    const int status = run_plan(printed);
    const bool has_rival = wait_for(running) == 0;
    if (status) {
      if (!has_rival) return fail_plan(printed);
      say("linked with " + rival_name() + " instead of " + request_.label() +
          ", which failed: " + printed.first_error());
      return driver::run(make_rival({}));
    }
    const Sizes sizes = measure(call_.output), plain = measure(rival);
    const bool is_compared = has_rival && sizes.loaded && plain.loaded;
    const bool is_larger = is_compared && plain.loaded < sizes.loaded;
    if (is_larger) {
      say(group(plain.loaded) + " loaded bytes with " + rival_name() + "; " + request_.label() +
          " was not used, because it needs " + group(sizes.loaded));
      // If a map must be written, repeat the whole link with its output.
      if (!call_.silent.empty() || !replace_file(rival, call_.output))
        return driver::run(make_rival({}));
    }
    printed.show();
    if (!is_larger)
      report(sizes, is_compared ? plain : Sizes(),
             is_compared ? "" : "; not compared with " + rival_name() + ", which failed to link");
    return 0;
  }

  int fail_plan(const Printed& printed) const {
    const int status = driver::run(make_native());
    if (status == 0)
      say("linked without " + request_.label() + ", which failed: " + printed.first_error());
    return status;
  }

  int run_plan(Printed& printed) const {
    if (recipe_.plugin.size() > 1) setenv("COMPILER_GYM_SIZE", settings().c_str(), 1);
    return run_and_keep(make_plan(), printed);
  }

  // The user's settings come last.
  std::string settings() const {
    const char* own = getenv("COMPILER_GYM_SIZE");
    return recipe_.plugin[1] + (own && *own ? std::string(",") + own : "");
  }

  void report(const Sizes& sizes, const Sizes& plain, const std::string& note) const {
    if (!sizes.loaded) return;
    std::string text = group(sizes.loaded) + " loaded bytes with " + request_.label();
    for (const std::string& word : request_.own)
      if (word.starts_with(baseline_option)) {
        const std::string file = word.substr(baseline_option.size()) + '/';
        const Sizes own = measure(file + std::string(base_name(call_.output)));
        text += compare("your flags", own.loaded, sizes.loaded);
      }
    text += compare(rival_name(), plain.loaded, sizes.loaded);
    if (const auto kilobytes = sizes.strippable / 1000; kilobytes >= few_kilobytes)
      text += "; strip saves " + group(kilobytes) + " kB more";
    say(text + note);
  }

  void say(const std::string& text) const {
    const std::string line = "compiler-gym " + request_.verb + ": " +
                             std::string(base_name(call_.output)) + ": " + text + '\n';
    fputs(line.c_str(), stderr);
  }

  std::string rival_name() const { return is_rust_ ? "the code of rustc" : "-Oz -flto"; }

  const Request& request_;
  const Recipe& recipe_;
  const Words& arguments_;
  const LinkCall call_;
  Contents contents_;
  bool is_rust_ = false;
  bool is_packed_ = false;
};

}  // namespace

void announce(const Request& request) {
  std::string text = request.verb + '\n' + request.kind + '\n' + request.name;
  for (const std::string& word : request.own) text += '\n' + word;
  setenv(link_variable, text.c_str(), 1);
}

int link(const std::string& self, const Words& arguments) {
  const char* text = getenv(link_variable);
  Words parts(1);
  for (const char* at = text ? text : ""; *at; ++at)
    if (*at == '\n')
      parts.emplace_back();
    else
      parts.back() += *at;
  unsetenv(link_variable);
  if (parts.size() < 3) {
    for (const char* name : {"ld.lld-22", "ld.lld"}) {
      Words words = {name};
      words.insert(words.end(), arguments.begin(), arguments.end());
      become(words);
    }
    return cannot_run({"ld.lld"});
  }
  const Request request{parts[0], parts[1], parts[2], {parts.begin() + 3, parts.end()}};
  int status = 0;
  const auto recipe = find_recipe(request, self, status);
  return recipe ? Task(request, *recipe, arguments).run() : status;
}

}  // namespace compiler_gym::driver
