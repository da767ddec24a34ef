// Two ends of a socket, and messages as the Python side encodes them.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::tests {

inline service::Bytes bytes(std::string_view text) {
  service::Host host;
  service::Bytes made = host.make_bytes(text.size());
  if (!text.empty()) std::memcpy(made.data(), text.data(), text.size());
  return made;
}

inline std::string framed(std::string_view message) {
  const std::uint64_t length = message.size();
  std::string frame(reinterpret_cast<const char*>(&length), sizeof(length));
  return frame.append(message);
}

// Our end is a channel; the test reads and writes the other end directly.
struct Pair {
  Pair() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw service::ChannelError(errno);
    ours = ends[0];
    theirs = ends[1];
  }
  ~Pair() {
    ::close(ours);
    hang_up();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void write(std::string_view data) const {
    if (::write(theirs, data.data(), data.size()) != static_cast<ssize_t>(data.size())) {
      throw service::ChannelError(errno);
    }
  }
  std::string read(std::size_t size) const {
    std::string data(size, '\0');
    const ssize_t count = recv(theirs, data.data(), size, MSG_WAITALL | MSG_DONTWAIT);
    data.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return data;
  }
  void hang_up() {
    if (theirs >= 0) ::close(theirs);
    theirs = -1;
  }

  int ours = -1;
  int theirs = -1;
};

// A reply to a step with an observation of eight bytes and the cost 7, computed on core 3 in half a
// second.
inline std::string usual_reply(std::string_view seen = "12345678", bool no_effect = false) {
  std::string message("\x9b\x13\xc2\xc0", 4);
  message += no_effect ? '\xc3' : '\xc2';
  message += std::string("\x92\xc4", 2);
  message += static_cast<char>(seen.size());
  message += seen;
  message += std::string("\x07\x01\xc0\xc0\x03\xcb\x3f\xe0\0\0\0\0\0\0\xc2", 15);
  return message;
}

}  // namespace compiler_gym::tests
