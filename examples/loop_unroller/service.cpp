// Chooses unroll factors for the loops of a C program, and has clang compile it.

#include <compiler_gym/session.h>
#include <elf.h>
#include <poll.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>

using namespace compiler_gym;
namespace fs = std::filesystem;

namespace {

const std::vector<int> factors = {0, 1, 2, 4, 8, 16};  // 0 leaves it to clang
constexpr int runs = 5;
constexpr double most_seconds = 30;

std::string clang = "clang";

// Runs a command and returns what it printed on standard output. It ends with this process, whose
// group it is in.
std::string run(const std::vector<std::string>& command, const char* kind) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("ServiceOSError", std::strerror(errno));
  const pid_t worker = getpid(), child = fork();
  if (child < 0) throw Error("ServiceOSError", std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != worker) _exit(1);
    dup2(ends[1], 1);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    std::fprintf(stderr, "cannot start %s: %s\n", words[0], std::strerror(errno));
    _exit(127);
  }
  close(ends[1]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_seconds);
  std::string printed;
  char part[4096];
  pollfd waits{ends[0], POLLIN, 0};
  ssize_t count = 1;
  while (count > 0 && std::chrono::steady_clock::now() < until)
    if (poll(&waits, 1, 100) > 0 && (count = read(ends[0], part, sizeof(part))) > 0)
      printed.append(part, static_cast<std::size_t>(count));
  close(ends[0]);
  if (count > 0) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (count > 0) throw Error(kind, command[0] + " took too long");
  if (status != 0) throw Error(kind, command[0] + " failed: status " + std::to_string(status));
  return printed;
}

// Where the loops of a C program begin: the places of `for` and `while` outside of comments and
// texts. The `while` of a `do` is none, nor is what a macro holds.
std::vector<std::size_t> loops_of(const std::string& code) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '"' || c == '\'') {
      for (++at; at < code.size() && code[at] != c; ++at) at += code[at] == '\\';
    } else if (code.compare(at, 2, "/*") == 0) {
      at = std::min(code.find("*/", at + 2), code.size());
    } else if (code.compare(at, 2, "//") == 0 || c == '#') {
      at = std::min(code.find('\n', at), code.size());
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      std::size_t end = at;
      while (end < code.size() && (std::isalnum(static_cast<unsigned char>(code[end])) ||
                                   code[end] == '_')) ++end;
      const std::string word = code.substr(at, end - at);
      std::size_t before = code.find_last_not_of(" \t\n", at == 0 ? 0 : at - 1);
      const bool ends_do = word == "while" && before != std::string::npos && code[before] == '}';
      if (word == "for" || (word == "while" && !ends_do)) found.push_back(at);
      at = end - 1;
    }
  }
  return found;
}

// The bytes of machine code in an object file.
std::size_t code_size(const fs::path& object) {
  std::ifstream file(object, std::ios::binary);
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  Elf64_Ehdr head;
  if (data.size() < sizeof(head)) throw Error("ObservationError", "clang wrote no object");
  std::memcpy(&head, data.data(), sizeof(head));
  std::size_t size = 0;
  for (int i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section;
    if (head.e_shoff + (i + 1) * sizeof(section) > data.size()) break;
    std::memcpy(&section, data.data() + head.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_flags & SHF_EXECINSTR) size += section.sh_size;
  }
  return size;
}

class Unroller : public Session {
 public:
  explicit Unroller(const Benchmark& program)
      : code_(program.contents), loops_(loops_of(code_)), chosen_(loops_.size(), 0) {
    if (loops_.empty()) throw Error("BenchmarkInitError", program.uri + " has no loop");
    compile("-c", "object", "BenchmarkInitError");
    initial_space = ActionSpace{
        "Loops",
        space("multi_discrete", {{"nvec", Value::List{loops_.size(), factors.size()}}}),
        "A loop, and its unroll factor"};
  }
  ~Unroller() override { fs::remove_all(scratch()); }

  Applied apply(const Value& action) override {
    const auto& numbers = action.as<Value::List>("an action", "InvalidActionError");
    if (numbers.size() != 2) throw Error("InvalidActionError", "expected a loop and a factor");
    const auto loop = numbers[0].as<std::int64_t>("a loop", "InvalidActionError");
    const auto factor = numbers[1].as<std::int64_t>("a factor", "InvalidActionError");
    if (loop < 0 || loop >= std::int64_t(loops_.size()) || factor < 0 ||
        factor >= std::int64_t(factors.size()))
      throw Error("InvalidActionError", "there is no such loop or factor");
    const int before = std::exchange(chosen_[loop], factors[factor]);
    return {before == chosen_[loop]};
  }

  Value observe(const std::string& name) override {
    if (name == "Source") return source();
    if (name == "Factors") {
      std::string shown;
      for (const int factor : chosen_) shown += (shown.empty() ? "" : " ") + std::to_string(factor);
      return shown;
    }
    if (name == "Size") return code_size(compile("-c", "object", "ObservationError"));
    const fs::path program = compile("-O1", "program", "ObservationError");
    if (name == "Output") return run({program}, "ObservationError");
    double least = most_seconds;
    for (int i = 0; i < runs; ++i) {
      const auto began = std::chrono::steady_clock::now();
      run({program}, "ObservationError");
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
      least = std::min(least, taken.count());
    }
    return least;
  }

 private:
  // The program, with a pragma before each loop that has a factor.
  std::string source() const {
    std::string made;
    std::size_t from = 0;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      made += code_.substr(from, loops_[i] - from);
      if (chosen_[i] > 0)
        made += "\n#pragma clang loop unroll_count(" + std::to_string(chosen_[i]) + ")\n";
      from = loops_[i];
    }
    return made + code_.substr(from);
  }

  fs::path compile(const char* option, const char* name, const char* kind) const {
    fs::create_directories(scratch());
    const fs::path in = scratch() / "program.c", out = scratch() / name;
    std::ofstream(in) << source();
    run({clang, "-O1", "-fno-vectorize", option, "-o", out, in}, kind);
    return out;
  }

  std::string code_;
  std::vector<std::size_t> loops_;
  std::vector<int> chosen_;
};

}  // namespace

int main(int count, char** words) {
  if (count > 1) clang = words[1];
  std::string version;
  try {
    version = run({clang, "--version"}, "EnvironmentNotSupported");
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: expected the name of a clang as the first argument\n", error.what());
    return 1;
  }
  return serve({
      "loop_unroller 1.0, " + version.substr(0, version.find('\n')),
      // How many loops there are depends on the program, which replaces this space.
      {{"Loops", space("multi_discrete", {{"nvec", Value::List{1, factors.size()}}})}},
      {{"Source", space("text"), "The program with its pragmas.", ""},
       {"Factors", space("text"), "The factor of each loop; 0 leaves it to clang.", ""},
       {"Output", space("text"), "What the program prints.", ""},
       {"Size", space("scalar", {{"low", 0}, {"dtype", "int"}}), "Bytes of machine code.", 0, true,
        true},
       {"Seconds", space("scalar", {{"low", 0}}), "The least time of five runs.", 0.0, false,
        true}},
      [](const Benchmark& program, const ActionSpace&) {
        return std::make_unique<Unroller>(program);
      },
  });
}
