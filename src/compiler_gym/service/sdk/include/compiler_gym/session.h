// SPDX-License-Identifier: MIT
// Turns a compiler into an environment of compiler_gym with C++17 and only this header.
//
// Derive from Session, describe it in a Compiler, and call serve() in main(). The messages follow
// docs/reference/session-protocol.md.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace compiler_gym {

// An error of a session: `kind` is the name of a class of compiler_gym.errors.
struct Error : std::runtime_error {
  Error(std::string k, const std::string& text) : std::runtime_error(text), kind(std::move(k)) {}
  std::string kind;
};

// A plain value in a message: an action, an observation, or the description of a space.
class Value {
 public:
  struct Bytes { std::string data; };
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;

  Value(std::nullptr_t = nullptr) {}
  Value(bool value) : data_(value) {}
  Value(int value) : data_(std::int64_t{value}) {}
  Value(std::int64_t value) : data_(value) {}
  Value(std::size_t value) : data_(static_cast<std::int64_t>(value)) {}
  Value(double value) : data_(value) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(Bytes value) : data_(std::move(value)) {}
  Value(List value) : data_(std::move(value)) {}
  Value(Map value) : data_(std::move(value)) {}

  bool is_nil() const { return std::holds_alternative<std::monostate>(data_); }
  // Return the value as a T, or throw an Error of `kind`.
  template <class T>
  const T& as(const char* what, const char* kind = "ServiceTransportError") const {
    if (const T* const found = std::get_if<T>(&data_)) return *found;
    throw Error(kind, std::string(what) + " is a value of another type");
  }

  // Write msgpack, with each length and number in its longest form.
  void write(std::string& to) const {
    const auto put = [&to](int code, std::uint64_t value, int size) {
      to.push_back(static_cast<char>(code));
      while (size-- > 0) to.push_back(static_cast<char>(value >> (8 * size)));
    };
    if (is_nil()) put(0xc0, 0, 0);
    if (const auto* one = std::get_if<bool>(&data_)) put(*one ? 0xc3 : 0xc2, 0, 0);
    if (const auto* one = std::get_if<std::int64_t>(&data_)) put(0xd3, std::uint64_t(*one), 8);
    if (const auto* one = std::get_if<double>(&data_)) put(0xcb, copy_of<std::uint64_t>(*one), 8);
    if (const auto* one = std::get_if<std::string>(&data_)) put(0xdb, one->size(), 4), to += *one;
    if (const auto* it = std::get_if<Bytes>(&data_)) put(0xc6, it->data.size(), 4), to += it->data;
    if (const auto* one = std::get_if<List>(&data_)) {
      put(0xdd, one->size(), 4);
      for (const Value& item : *one) item.write(to);
    }
    if (const auto* one = std::get_if<Map>(&data_)) {
      put(0xdf, one->size(), 4);
      for (const auto& [key, item] : *one) Value(key).write(to), item.write(to);
    }
  }

  static Value read(const char*& at, const char* end, int depth = 0) {
    const auto need = [&](std::uint64_t size) {
      if (std::uint64_t(end - at) < size || depth > 64)
        throw Error("ServiceTransportError", "the message ends too early, or is too deep");
    };
    const auto take = [&](int size) {
      need(size);
      std::uint64_t value = 0;
      while (size-- > 0) value = value << 8 | static_cast<std::uint8_t>(*at++);
      return value;
    };
    const auto raw = [&](std::uint64_t size) {
      need(size);
      at += size;
      return std::string(at - size, size);
    };
    const auto text = [&](std::uint64_t size) {
      const std::string found = raw(size);
      return is_utf8(found) ? found : throw Error("ServiceTransportError", "a text is not UTF-8");
    };
    const auto list = [&](std::uint64_t size) {  // reserve no memory: a length may be wrong
      List items;
      while (size-- > 0) items.push_back(read(at, end, depth + 1));
      return items;
    };
    const auto map = [&](std::uint64_t size) {
      Map items;
      while (size-- > 0) {
        const Value key = read(at, end, depth + 1);
        items.emplace_back(key.as<std::string>("a key"), read(at, end, depth + 1));
      }
      return items;
    };
    const int code = static_cast<int>(take(1));
    if (code < 0x80 || code >= 0xe0) return std::int64_t{static_cast<std::int8_t>(code)};
    if (code < 0x90) return map(code & 15);
    if (code < 0xa0) return list(code & 15);
    if (code < 0xc0) return text(code & 31);
    switch (code) {
      case 0xc0: return {};
      case 0xc2: case 0xc3: return code == 0xc3;
      case 0xc4: case 0xc5: case 0xc6: return Bytes{raw(take(1 << (code - 0xc4)))};
      case 0xca: return double{copy_of<float>(static_cast<std::uint32_t>(take(4)))};
      case 0xcb: return copy_of<double>(take(8));
      case 0xcc: case 0xcd: case 0xce: case 0xcf: return std::int64_t(take(1 << (code - 0xcc)));
      case 0xd0: case 0xd1: case 0xd2: case 0xd3: {
        const int size = 1 << (code - 0xd0), left = 64 - 8 * size;
        return std::int64_t(take(size) << left) >> left;  // sign-extend from the first byte
      }
      case 0xd9: case 0xda: case 0xdb: return text(take(1 << (code - 0xd9)));
      case 0xdc: case 0xdd: return list(take(2 << (code - 0xdc)));
      case 0xde: case 0xdf: return map(take(2 << (code - 0xde)));
      default: throw Error("ServiceTransportError", "the message has a type that is none of ours");
    }
  }

 private:
  static bool is_utf8(const std::string& text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto first = static_cast<std::uint8_t>(text[at]);
      const int more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
      std::uint32_t code = first & (more == 0 ? 0xff : 0x3f >> more);
      for (int i = 0; i < more; ++i) {
        if (++at == text.size() || (text[at] & 0xc0) != 0x80) return false;
        code = code << 6 | (text[at] & 0x3f);
      }
      if (more == 0 && first > 0x7f) return false;
      const std::uint32_t least = more < 2 ? more * 0x80u : more == 2 ? 0x800u : 0x10000u;
      if (code < least || first > 0xf4 || code > 0x10ffff || code >> 11 == 27) return false;
    }
    return true;
  }

  template <class To, class From>
  static To copy_of(From from) {
    To to;
    std::memcpy(&to, &from, sizeof(to));
    return to;
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, List, Map> data_;
};

// The description of a space: `space("scalar", {{"low", 0}, {"dtype", "int"}})`. The page lists
// the kinds and their fields.
inline Value space(const char* type, Value::Map fields = {}) {
  fields.insert(fields.begin(), {"type", type});
  return fields;
}

struct ActionSpace {
  std::string name;
  Value space;
  std::string description = "";
  Value value() const {
    return Value::Map{{"name", name}, {"space", space}, {"description", description}};
  }
};

struct ObservationSpace {
  std::string name;
  Value space;
  std::string description = "";
  Value default_value = {};         // the value after a failure
  bool deterministic = true;        // the same program always gives the same value
  bool platform_dependent = false;  // the value may differ on another machine
  Value value() const {
    return Value::Map{{"name", name}, {"space", space}, {"description", description},
                      {"deterministic", deterministic}, {"default", default_value},
                      {"platform_dependent", platform_dependent}};
  }
};

struct Benchmark {
  std::string uri, contents;
  std::map<std::string, std::string> parameters;
};

// The effect of one action.
struct Applied {
  bool no_effect = false;  // true only if the program did not change at all
  bool end = false;        // the episode has ended
  std::optional<ActionSpace> new_space = {};
};

// One program in one compiler, and the actions applied to it. Calls come one at a time. Between
// two calls the process may be forked, and both copies continue. Every method may throw an Error.
class Session {
 public:
  virtual ~Session() = default;
  virtual Applied apply(const Value& action) = 0;
  virtual Value observe(const std::string& name) = 0;
  virtual std::optional<std::string> parameter(const std::string& /*key*/, const std::string&) {
    return std::nullopt;  // the key is unknown
  }
  virtual void moved() {}  // called in the copy after a fork: `scratch` has changed
  std::optional<ActionSpace> initial_space;  // if the program determines its actions

  // A path prefix for files of this process, which are removed when the process ends.
  static std::filesystem::path scratch() {
    const char* const folder = std::getenv("COMPILER_GYM_SCRATCH");
    return std::string(folder ? folder : ".") + "/" + std::to_string(getpid()) + "-files";
  }
};

struct Compiler {
  std::string version;
  std::vector<ActionSpace> action_spaces;  // the first is the default
  std::vector<ObservationSpace> observation_spaces;
  std::function<std::unique_ptr<Session>(const Benchmark&, const ActionSpace&)> start;
  bool can_fork = true;  // false if a copy of the process is not a copy of the session
};

namespace detail {

class Server {
 public:
  Server(const Compiler& compiler, int in, int out) : compiler_(compiler), in_(in), out_(out) {}

  [[noreturn]] void run() {
    for (std::uint64_t length = 0;;) {  // little-endian, like this machine
      if (!read_all(&length, sizeof(length))) leave(0);
      if (length > std::uint64_t{1} << 30) leave(1);  // no valid message is this long
      std::string frame;  // grows as bytes arrive: a length may be wrong
      for (std::size_t at = 0; at < length; at = frame.size()) {
        frame.resize(std::min<std::size_t>(length, 2 * at + 4096));
        if (!read_all(&frame[at], frame.size() - at)) leave(1);
      }
      send(reply(frame));
    }
  }

 private:
  using List = Value::List;

  Value reply(const std::string& frame) {
    recoverable_ = true;  // until the session may have changed
    applied_ = 0;
    try {
      const char* at = frame.data();
      message_ = Value::read(at, at + frame.size()).as<List>("a message");
      switch (field(0).as<std::int64_t>("a tag")) {
        case 1: return start();
        case 2: return step();
        case 3: return fork_session();
        case 4: return parameter();
        case 5: stop(); return List{22};
        case 6: running(); return List{18, nullptr, observe(field(1))};
        case 7: return describe();
        default: throw Error("ServiceTransportError", "there is no request of that tag");
      }
    } catch (const Error& error) {
      if (!recoverable_) stop();
      return List{23, error.kind, error.what(), applied_, recoverable_};
    } catch (const std::bad_alloc&) {
      _exit(86);  // the client knows the limit and the meaning of this status
    } catch (const std::exception& error) {
      stop();
      return List{23, "SessionError", error.what(), applied_, false};
    }
  }

  const Value& field(std::size_t i) const {
    if (i < message_.size()) return message_[i];
    throw Error("ServiceTransportError", "the message has too few fields");
  }

  Value describe() {
    bool is_known = false, takes_descriptors = false;
    for (const Value& one : field(1).as<List>("it")) is_known |= one.as<std::int64_t>("it") == 1;
    if (!is_known) throw Error("EnvironmentNotSupported", "expected version 1 of the protocol");
    for (const Value& name : message_.size() > 2 ? field(2).as<List>("it") : List())
      takes_descriptors |= name.as<std::string>("a capability") == "descriptors";
    List actions, observations, capabilities;
    for (const ActionSpace& space : compiler_.action_spaces) actions.push_back(space.value());
    for (const auto& space : compiler_.observation_spaces) observations.push_back(space.value());
    if (compiler_.can_fork && takes_descriptors) capabilities.push_back("fork");
    return List{17, 1, compiler_.version, actions, observations, capabilities};
  }

  Value start() {
    Benchmark program;
    for (const auto& [key, value] : field(1).as<Value::Map>("a program")) {
      if (key == "uri") program.uri = value.as<std::string>("an address");
      if (key == "contents") program.contents = value.as<Value::Bytes>("contents").data;
      if (key == "parameters")
        for (const auto& [name, setting] : value.as<Value::Map>("parameters"))
          program.parameters[name] = setting.as<std::string>("a parameter");
    }
    const auto& spaces = compiler_.action_spaces;
    const ActionSpace& chosen = field(2).is_nil() ? spaces.at(0) : named(spaces, field(2));
    const Value names = field(3).as<List>("names");
    stop();
    recoverable_ = false;
    session_ = compiler_.start(program, chosen);
    const auto& first = session_->initial_space;
    return List{18, first ? first->value() : Value(), observe(names)};
  }

  Value step() {
    Session& session = running();
    const List &actions = field(1).as<List>("actions"), &names = field(2).as<List>("names");
    Applied all{true};
    for (const Value& action : actions) try {
        const Applied one = session.apply(action);
        ++applied_;
        if (!one.no_effect) memo_.clear(), all.no_effect = false;
        if (one.new_space) all.new_space = one.new_space;
        if ((all.end = one.end)) break;
      } catch (const Error& error) {
        recoverable_ = error.kind == "InvalidActionError";
        throw;
      }
    List fields{19, all.end, all.new_space ? all.new_space->value() : Value(), all.no_effect,
                List{}, applied_};
    try {
      fields[4] = observe(names);
    } catch (const Error& error) {
      recoverable_ = false;
      if (error.kind != "ObservationError" && error.kind != "UnknownNameError") throw;
      fields.push_back(List{error.kind, error.what()});
    }
    return fields;
  }

  Value parameter() {
    memo_.clear();  // it may change the program
    const auto &key = field(1).as<std::string>("a key"), &value = field(2).as<std::string>("it");
    const std::optional<std::string> answer = running().parameter(key, value);
    return List{21, answer ? Value(*answer) : Value()};
  }

  // Two forks, the first of which ends at once, so that our parent adopts the copy.
  Value fork_session() {
    if (session_ && message_.size() > 1) try {
        observe(message_[1]);
      } catch (const Error&) {  // reported when it is requested
      }
    int ends[2], numbers[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) || pipe2(numbers, O_CLOEXEC))
      throw Error("ServiceOSError", std::strerror(errno));
    const pid_t parent = getppid(), middle = fork();
    if (middle == 0) {
      const pid_t first = getpid();
      if (fork() != 0) _exit(0);
      while (getppid() == first) usleep(100);
      setsid();
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      for (const int inherited : {in_, out_, ends[0], numbers[0]}) close(inherited);
      in_ = out_ = ends[1];
      if (session_) session_->moved();
      const pid_t copy = getpid();
      if (write(numbers[1], &copy, sizeof(copy)) != sizeof(copy)) _exit(1);
      close(numbers[1]), run();
    }
    for (const int theirs : {ends[1], numbers[1]}) close(theirs);
    if (middle > 0) waitpid(middle, nullptr, 0);
    pid_t copy = 0;
    const bool is_there = ::read(numbers[0], &copy, sizeof(copy)) == sizeof(copy);
    close(numbers[0]);
    if (!is_there) close(ends[0]), throw Error("ServiceOSError", "the process cannot be forked");
    descriptor_ = ends[0];
    return List{20, static_cast<std::int64_t>(copy)};
  }

  List observe(const Value& names) {
    List values;
    for (const Value& item : names.as<List>("names")) {
      const ObservationSpace& space = named(compiler_.observation_spaces, item);
      const auto known = memo_.find(space.name);
      values.push_back(known != memo_.end() ? known->second : running().observe(space.name));
      if (space.deterministic) memo_[space.name] = values.back();
    }
    return values;
  }

  template <class Space>
  static const Space& named(const std::vector<Space>& spaces, const Value& value) {
    const auto& name = value.as<std::string>("a name");
    for (const Space& space : spaces)
      if (space.name == name) return space;
    throw Error("UnknownNameError", "there is no space '" + name + "'");
  }

  Session& running() {
    return session_ ? *session_ : throw Error("SessionNotFound", "no episode is running");
  }

  void stop() { session_.reset(), memo_.clear(); }

  [[noreturn]] void leave(int status) {  // ends a session that closes too slowly
    alarm(3), stop(), _exit(status);
  }

  bool read_all(void* to, std::size_t size) {
    for (char* at = static_cast<char*>(to); size > 0;) {
      const ssize_t count = ::read(in_, at, size);
      if (count <= 0 && (count == 0 || errno != EINTR)) return false;
      if (count > 0) at += count, size -= static_cast<std::size_t>(count);
    }
    return true;
  }

  void send(const Value& message) {
    std::string frame(8, '\0');
    message.write(frame);
    const std::uint64_t length = frame.size() - 8;
    std::memcpy(frame.data(), &length, 8);
    for (std::size_t sent = 0; sent < frame.size();) {
      const ssize_t count = send_some(&frame[sent], frame.size() - sent);
      if (count < 0 && errno != EINTR) leave(1);
      if (count > 0) sent += static_cast<std::size_t>(count), close(std::exchange(descriptor_, -1));
    }
  }

  ssize_t send_some(char* from, std::size_t size) {
    if (descriptor_ < 0) return ::write(out_, from, size);
    iovec part{from, size};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{nullptr, 0, &part, 1, room, sizeof(room), 0};
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor_, sizeof(int));
    return sendmsg(out_, &message, 0);
  }

  const Compiler& compiler_;
  int in_, out_;
  int descriptor_ = -1;  // sent with the next reply
  List message_;
  std::int64_t applied_ = 0;
  bool recoverable_ = true;
  std::unique_ptr<Session> session_;
  std::map<std::string, Value> memo_;
};

}  // namespace detail

// Answers requests until the client closes, then exits. Returns only if there is no client.
inline int serve(const Compiler& compiler) {
  const char* const found = std::getenv("COMPILER_GYM_SESSION");
  const std::string where = found ? found : "";
  int in = -1, out = -1;
  if (where == "stdio") {
    in = dup(0), out = dup(1);
    dup2(2, 1);  // output of the compiler must not mix with messages
  } else if (where.rfind("fd:", 0) == 0) {
    in = out = std::atoi(where.c_str() + 3);
  } else if (where.rfind("unix:", 0) == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, where.c_str() + 5, sizeof(address.sun_path) - 1);
    out = socket(AF_UNIX, SOCK_STREAM, 0);
    if (!connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof(address))) in = out;
  }
  for (const int mine : {in, out}) fcntl(mine, F_SETFD, FD_CLOEXEC);
  if (in >= 0) detail::Server(compiler, in, out).run();
  std::fprintf(stderr, "expected COMPILER_GYM_SESSION to be fd:N, stdio or unix:PATH, found '%s': "
               "have compiler_gym start this program\n", where.c_str());
  return 2;
}

}  // namespace compiler_gym
