#include "arguments.h"

#include <algorithm>
#include <utility>

#include "files.h"

namespace compiler_gym::driver {

namespace {

using Names = std::initializer_list<std::string_view>;

bool is_among(std::string_view word, Names names) {
  return std::ranges::find(names, word) != names.end();
}

// Options of lld whose value is the next argument unless it follows a =.
bool takes_value(std::string_view name) {
  return is_among(name, {"o",
                         "output",
                         "e",
                         "entry",
                         "h",
                         "soname",
                         "z",
                         "m",
                         "u",
                         "undefined",
                         "y",
                         "trace-symbol",
                         "rpath",
                         "R",
                         "rpath-link",
                         "I",
                         "dynamic-linker",
                         "plugin",
                         "plugin-opt",
                         "mllvm",
                         "Map",
                         "T",
                         "script",
                         "default-script",
                         "dT",
                         "version-script",
                         "dynamic-list",
                         "defsym",
                         "wrap",
                         "init",
                         "fini",
                         "sysroot",
                         "exclude-libs",
                         "export-dynamic-symbol",
                         "export-dynamic-symbol-list",
                         "retain-symbols-file",
                         "symbol-ordering-file",
                         "section-ordering-file",
                         "undefined-glob",
                         "just-symbols",
                         "L",
                         "library-path",
                         "l",
                         "library",
                         "dependency-file",
                         "reproduce",
                         "filter",
                         "f",
                         "auxiliary",
                         "F",
                         "format",
                         "b",
                         "oformat",
                         "hash-style",
                         "sort-section",
                         "Ttext",
                         "Tdata",
                         "Tbss",
                         "section-start",
                         "image-base",
                         "why-extract",
                         "print-archive-stats",
                         "print-symbol-order",
                         "call-graph-ordering-file",
                         "warn-backrefs-exclude",
                         "thinlto-cache-dir",
                         "chroot",
                         "package-metadata",
                         "require-defined"});
}

// Options of one letter whose value may follow directly.
constexpr std::string_view joined_letters = "oLlmTzeuyIhRfFb";

struct Option {
  std::string_view name;
  std::string_view value;
};

class Reader {
 public:
  LinkCall call;

  void take(const Words& words) {
    for (size_t at = 0; at < words.size(); ++at) {
      const std::string_view word = words[at];
      if (word.size() < 2 || word[0] != '-') {
        if (word != "-") call.files.emplace_back(word);
        continue;
      }
      Option option = split(word);
      if (option.value.data() == nullptr && takes_value(option.name) && at + 1 < words.size())
        option.value = words[++at];
      note(option);
    }
    for (const auto& [name, prefers_archives] : libraries_) find_library(name, prefers_archives);
    call.is_dynamic = is_position_independent_ && has_loader_ && !is_static_;
  }

 private:
  Option split(std::string_view word) {
    const bool is_long = word[1] == '-';
    std::string_view name = word.substr(1 + is_long);
    const size_t at = name.find('=');
    const std::string_view key = name.substr(0, at);
    if (at != name.npos && (is_long || key.size() > 1)) return {key, name.substr(at + 1)};
    if (is_long || name.size() == 1 || takes_value(name)) return {name, {}};
    if (joined_letters.find(name[0]) != joined_letters.npos)
      return {name.substr(0, 1), name.substr(1)};
    return {name, {}};
  }

  void note(const Option& option) {
    const auto [name, value] = option;
    if (is_among(name, {"o", "output"})) {
      call.output = value;
    } else if (is_among(name, {"T", "script", "default-script", "dT"})) {
      call.scripts.emplace_back(value);
    } else if (is_among(name, {"L", "library-path"})) {
      call.folders.emplace_back(value);
    } else if (is_among(name, {"l", "library"})) {
      call.libraries.emplace_back(value);
      libraries_.emplace_back(value, prefers_archives_);
    } else if (name == "m") {
      call.emulation = value;
    } else if (is_among(name, {"r", "i", "relocatable"})) {
      call.unusual = "a partial link (-r)";
    } else if (is_among(name, {"pie", "shared", "Bshareable", "pic-executable"})) {
      is_position_independent_ = true;
      has_loader_ |= name != "pie";
    } else if (name == "no-pie") {
      is_position_independent_ = false;
    } else if (is_among(name, {"dynamic-linker", "I"})) {
      has_loader_ = true;
    } else if (is_among(name, {"no-dynamic-linker", "static"})) {
      is_static_ = prefers_archives_ = true;
    } else if (is_among(name, {"Bstatic", "dn", "non_shared"})) {
      prefers_archives_ = true;
    } else if (is_among(name, {"Bdynamic", "dy", "call_shared"})) {
      prefers_archives_ = false;
    } else if (is_among(name, {"z", "pack-dyn-relocs", "use-android-relr-tags"})) {
      call.decides_packing |= name != "z" || value.find("pack-relative-relocs") != value.npos;
    } else if (name.starts_with("plugin-opt") || name == "mllvm") {
      note_llvm(value);
    } else if (name.starts_with("lto-emit") || name.starts_with("thinlto-index")) {
      call.unusual = "the option --" + std::string(name);
    } else if (is_among(name, {"Map", "dependency-file", "why-extract", "print-archive-stats",
                               "print-symbol-order"})) {
      call.silent.push_back("--" + std::string(name) + "=/dev/null");
    } else if (is_among(name, {"reproduce", "time-trace", "time-trace-file", "save-temps",
                               "lto-obj-path", "out-implib", "oformat"})) {
      call.is_comparable = false;
    }
  }

  void note_llvm(std::string_view value) {
    if (value.size() == 2 && value[0] == 'O') call.rust_level = value[1] - '0';
    if (value.starts_with("emit-")) call.unusual = "the option " + std::string(value);
    while (value.starts_with('-')) value.remove_prefix(1);
    call.options.emplace(value.substr(0, value.find('=')));
  }

  // lld looks through all folders, also through those that come after the library.
  void find_library(std::string_view name, bool prefers_archives) {
    Words names = {"lib" + std::string(name) + ".a"};
    if (!prefers_archives) names.insert(names.begin(), "lib" + std::string(name) + ".so");
    if (name.starts_with(':')) names = {std::string(name.substr(1))};
    for (const std::string& folder : call.folders)
      for (const std::string& file : names) {
        struct stat facts;
        if (stat((folder + '/' + file).c_str(), &facts)) continue;
        call.files.push_back(folder + '/' + file);
        return;
      }
  }

  std::vector<std::pair<std::string, bool>> libraries_;
  bool is_position_independent_ = false;
  bool has_loader_ = false;
  bool is_static_ = false;
  bool prefers_archives_ = false;
};

}  // namespace

LinkCall read_arguments(const Words& arguments) {
  Reader reader;
  reader.take(expand_response_files(arguments));
  return reader.call;
}

}  // namespace compiler_gym::driver
