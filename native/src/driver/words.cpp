#include "words.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "files.h"

namespace compiler_gym::driver {

namespace {

constexpr int most_response_files = 8;  // nested in each other
constexpr std::string_view spaces = " \t\r\n";

void expand(const Words& words, int depth, Words& found) {
  for (const std::string& word : words) {
    std::optional<std::string> text;
    if (word.starts_with('@') && depth < most_response_files) text = read_regular(word.substr(1));
    if (text)
      expand(split_words(*text), depth + 1, found);
    else
      found.push_back(word);
  }
}

template <size_t count>
bool is_among(const std::array<std::string_view, count>& all, std::string_view word) {
  return std::ranges::find(all, word) != all.end();
}

// Options that stop before there is an object, and queries, which make none.
bool makes_no_object(std::string_view word) {
  static constexpr std::array<std::string_view, 9> all = {
      "-E", "-M", "-MM", "-S", "-fsyntax-only", "-###", "--analyze", "--precompile", "-emit-llvm"};
  static constexpr std::array<std::string_view, 5> beginnings = {"--version", "--help", "-dump",
                                                                 "-print-", "--print-"};
  return is_among(all, word) || std::ranges::any_of(beginnings, [&](std::string_view beginning) {
           return word.starts_with(beginning);
         });
}

// Options whose next argument is not a file to compile or link.
bool takes_next_argument(std::string_view word) {
  static constexpr std::array<std::string_view, 32> all = {
      "-Xlinker", "-Xclang",    "-Xassembler",  "-Xpreprocessor",
      "-mllvm",   "-D",         "-U",           "-I",
      "-L",       "-include",   "-isystem",     "-MF",
      "-MT",      "-MQ",        "-x",           "-T",
      "-u",       "-z",         "-e",           "-l",
      "-target",  "--sysroot",  "-isysroot",    "-imacros",
      "-iquote",  "-idirafter", "-rpath",       "-B",
      "--param",  "-arch",      "-include-pch", "--config"};
  return is_among(all, word);
}

bool has_component(std::string_view path, std::string_view beginning) {
  for (size_t at = 0; at != path.npos; at = path.find('/', at + 1))
    if (path.substr(at + (path[at] == '/')).starts_with(beginning)) return true;
  return false;
}

std::string_view stem(std::string_view path) {
  path = base_name(path);
  return path.substr(0, path.rfind('.'));
}

// Return whether a build system tests the compiler with the file `name` in the folder `here`.
bool is_probe(std::string_view here, std::string_view name) {
  std::string_view last = stem(name);
  while (!last.empty() && isdigit(static_cast<unsigned char>(last.back()))) last.remove_suffix(1);
  const bool is_meson =
      has_component(here, "meson-private") || has_component(name, "meson-private");
  return last == "conftest" || last == "conftstm" || last.starts_with("cmTC_") ||
         stem(name).starts_with("CMakeCCompilerId") ||
         stem(name).starts_with("CMakeCXXCompilerId") || has_component(here, "CMakeScratch") ||
         has_component(here, "CMakeTmp") || has_component(name, "CMakeScratch") ||
         has_component(name, "CMakeTmp") ||
         (is_meson && (last == "testfile" || last == "output" || last.starts_with("sanitycheck")));
}

// Return the name of the object for the source `name`.
std::string object_name(std::string_view name) {
  name = base_name(name);
  const size_t dot = name.rfind('.');
  return std::string(name.substr(0, dot == 0 ? name.npos : dot)) + ".o";
}

}  // namespace

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is the beginning
}

Words split_words(std::string_view text) {
  Words found;
  std::string word;
  char quote = 0;
  const auto end_word = [&] {
    if (!word.empty()) found.push_back(std::exchange(word, {}));  // clang drops '' too
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '\\' && at + 1 < text.size())
      word += text[++at];
    else if (quote && letter == quote)
      quote = 0;
    else if (!quote && (letter == '\'' || letter == '"'))
      quote = letter;
    else if (quote || spaces.find(letter) == spaces.npos)
      word += letter;
    else
      end_word();
  }
  end_word();
  return found;
}

Words expand_response_files(const Words& words) {
  Words found;
  expand(words, 0, found);
  return found;
}

Call parse_call(const Words& words) {
  Call call;
  bool is_none = false;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "-o" || word == "--output") {
      call.is_cut_short |= ++at == words.size();
      if (at < words.size()) call.output = words[at];
    } else if (word.starts_with("--output=")) {
      call.output = word.substr(9);
    } else if (word.starts_with("-o") && !word.starts_with("-ob")) {
      call.output = word.substr(2);
    } else if (takes_next_argument(word)) {
      call.is_cut_short |= ++at == words.size();
    } else if (word == "-c") {
      call.kind = Kind::object;
    } else if (makes_no_object(word)) {
      is_none = true;
    } else if (word == "--") {
      call.inputs.insert(call.inputs.end(), words.begin() + at + 1, words.end());
      break;
    } else if (word.starts_with("-fuse-ld=") || word.starts_with("--ld-path=")) {
      call.linker = word.substr(word.find('=') + 1);
    } else if (word == "-" || !word.starts_with('-')) {
      call.inputs.emplace_back(word);
    }
  }
  if (is_none) call.kind = Kind::other;
  if (call.output)
    call.outputs = {*call.output};
  else if (call.kind == Kind::object)
    for (const std::string& input : call.inputs) call.outputs.push_back(object_name(input));
  else
    call.outputs = {"a.out"};
  char* const here = getcwd(nullptr, 0);
  const auto asks = [&](std::string_view name) { return is_probe(here ? here : "", name); };
  call.is_probe = std::ranges::any_of(call.inputs, asks) || (call.output && asks(*call.output));
  free(here);
  return call;
}

}  // namespace compiler_gym::driver
