#include "recipe.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "files.h"
#include "running.h"

namespace compiler_gym::driver {

namespace {

bool is_current(const Words& stamps) {
  for (size_t at = 0; at + 1 < stamps.size(); at += 2) {
    struct stat facts;
    if (stat(stamps[at].c_str(), &facts) || stamp(facts) != stamps[at + 1]) return false;
  }
  return !stamps.empty();
}

std::optional<Recipe> recipe_in(std::string_view text) {
  const std::vector<Words> lists = split_lists(text);
  if (lists.size() != 11 || !is_current(lists[0]) || lists[1].empty() || lists[7].size() != 2)
    return {};
  return Recipe{lists[1], lists[2], lists[3], lists[4], lists[5],
                lists[6], lists[7], lists[8], lists[9], lists[10]};
}

}  // namespace

bool is_own_option(std::string_view word) {
  static constexpr std::array<std::string_view, 5> all = {
      "--never-larger", "--no-never-larger", "--old-loaders", "--no-plugin", "--minsize"};
  return std::ranges::find(all, word) != all.end() || word.starts_with(baseline_option);
}

bool Request::has(std::string_view option) const {
  return std::ranges::find(own, option) != own.end();
}

std::vector<Words> split_lists(std::string_view text) {
  std::vector<Words> lists(1);
  for (size_t at; (at = text.find(word_end)) != text.npos; text.remove_prefix(at + 1))
    if (at)
      lists.back().emplace_back(text.substr(0, at));
    else
      lists.emplace_back();
  const bool is_whole = text.empty() && lists.back().empty();
  lists.resize(is_whole ? lists.size() - 1 : 0);
  return lists;
}

std::optional<std::string> read_own(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) || facts.st_uid != geteuid()) return {};
  return read_regular(path);
}

std::string which_compiler() {
  std::string text;
  for (const char* name : {"PATH", "COMPILER_GYM_CLANG", "COMPILER_GYM_SIZE_PLUGIN"}) {
    const char* value = getenv(name);
    text += std::string(value ? value : "") + word_end;
  }
  return text;
}

std::string library(const std::string& self) {
  const std::string beside = self.substr(0, self.rfind('/') + 1) + "compiler-gym";
  return access(beside.c_str(), X_OK) ? "compiler-gym" : beside;
}

std::optional<Recipe> find_recipe(const Request& request, const std::string& self, int& status) {
  std::string name = request.name;
  char absolute[PATH_MAX];
  if (name.ends_with(".toml") && realpath(name.c_str(), absolute)) name = absolute;
  std::string key = COMPILER_GYM_VERSION;
  for (const std::string& part : {request.kind, name}) key += word_end + part;
  const std::string kept =
      cache_folder() + "/link-recipes/" + sha256(key + word_end + which_compiler());
  if (const auto text = read_own(kept))
    if (auto recipe = recipe_in(*text)) return recipe;
  const Words ask = {library(self), request.verb, "--describe-recipe", request.kind, name};
  const std::string text = read_output(ask, status);
  if (status) return {};
  auto recipe = recipe_in(text);
  if (recipe) {
    write_whole(kept, text);
  } else {
    status = 2;
    const std::string line = "compiler-gym " + request.verb + ": " + ask[0] +
                             " has another version than " + self + ": install both together\n";
    fputs(line.c_str(), stderr);
  }
  return recipe;
}

}  // namespace compiler_gym::driver
