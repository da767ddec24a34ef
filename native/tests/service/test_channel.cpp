#include "compiler_gym/service/channel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "child.h"
#include "sockets.h"
#include "waiting.h"

using namespace compiler_gym::service;
using compiler_gym::tests::bytes;
using compiler_gym::tests::framed;
using compiler_gym::tests::Pair;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

// The number of the error that `act` throws, or 0.
template <class Act>
int error_of(const Act& act) {
  try {
    act();
  } catch (const ChannelError& error) {
    return error.number;
  }
  return 0;
}

struct Interrupted {};

class Interrupting : public Host {
 public:
  void check_interrupts() override {
    if (++checks > 1) throw Interrupted();
  }
  int checks = 0;
};

}  // namespace

TEST_CASE("a frame is its length and its bytes") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  channel.send("hello", forever);
  CHECK(pair.read(100) == framed("hello"));
  pair.write(framed("answer"));
  CHECK(channel.receive(forever, 1e-3).view() == "answer");
  pair.write(framed(""));
  CHECK(channel.receive(forever, 0).is_valid());
}

TEST_CASE("a channel that sleeps does not look for a frame first") {
  for (const bool sleeps : {false, true}) {
    Interrupting host;  // counts the waits asleep
    const Pair pair;
    Channel channel(pair.ours, host);
    channel.sleeps = sleeps;
    pair.write(framed("answer"));
    CHECK(channel.receive(forever, 20).view() == "answer");
    CHECK(host.checks == (sleeps ? 1 : 0));
    CHECK(!channel.is_crowded());
  }
}

TEST_CASE("a frame that comes in parts, or is larger than the buffer, is put together") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  std::string large(300'000, 'x');
  large.front() = 'a';
  large.back() = 'z';
  std::thread writer([&] {
    const std::string frame = framed(large);
    for (std::size_t at = 0; at < frame.size(); at += 50'001) {
      pair.write(std::string_view(frame).substr(at, 50'001));
    }
  });
  CHECK(channel.receive(seconds_now() + 30, 0).view() == large);
  writer.join();
}

TEST_CASE("a frame that is not read or does not arrive in time is an error") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  const std::string large(8 << 20, 'x');
  CHECK(error_of([&] { channel.send(large, seconds_now() + 0.02); }) == ETIMEDOUT);
  CHECK(error_of([&] { channel.receive(seconds_now() + 0.02, 0); }) == ETIMEDOUT);
  CHECK(error_of([&] { channel.wait(seconds_now() - 1, 0); }) == ETIMEDOUT);
}

TEST_CASE("available bytes can be read after the deadline") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  pair.write(framed("late"));
  CHECK(channel.receive(seconds_now() - 1, 0).view() == "late");
}

TEST_CASE("the end of the stream is seen by readers and by writers") {
  Host host;
  Pair pair;
  Channel channel(pair.ours, host);
  CHECK(!channel.has_ended());
  pair.hang_up();
  CHECK(channel.has_ended());
  CHECK(error_of([&] { channel.receive(forever, 0); }) == ECONNRESET);
  CHECK(error_of([&] { channel.send("x", forever); }) == EPIPE);
  channel.close();
  CHECK(error_of([&] { channel.receive(forever, 0); }) == EBADF);
}

TEST_CASE("an invalid frame is refused at each attempt") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  pair.write(std::string(8, '\xff'));
  CHECK(error_of([&] { channel.receive(forever, 0); }) == EPROTO);
  CHECK(error_of([&] { channel.receive(forever, 0); }) == EPROTO);
  const Pair other;
  Channel second(other.ours, host);
  other.write(framed("one") + framed("two"));
  CHECK(error_of([&] { second.receive(forever, 0); }) == EPROTO);
}

TEST_CASE("a request is stored, sent and awaited; receive throws its errors") {
  Host host;
  Pair pair;
  Channel channel(pair.ours, host);
  channel.send_held();
  CHECK(!channel.awaits);
  channel.hold(bytes("question"), 10);
  CHECK(channel.is_held());
  channel.send_held();
  CHECK((!channel.is_held() && channel.awaits));
  CHECK(channel.deadline > seconds_now());
  CHECK(pair.read(100) == framed("question"));
  CHECK(channel.take_in());
  pair.write(framed("answer"));
  CHECK(!channel.take_in());
  CHECK(channel.frame() == "answer");
  CHECK(channel.receive(forever, 0).view() == "answer");
  CHECK(!channel.awaits);
  pair.hang_up();
  channel.hold(bytes("question"), 10);
  channel.send_held();
  CHECK(channel.has_trouble());
  channel.await(forever, 0);
  CHECK(error_of([&] { channel.receive(forever, 0); }) == EPIPE);
}

TEST_CASE("an exception of the host ends a wait, and the channel stays usable") {
  Interrupting host;
  const Pair pair;
  Channel channel(pair.ours, host);
  CHECK_THROWS_AS(channel.receive(forever, 0), Interrupted);
  CHECK(host.checks == 2);
  host.checks = 0;
  pair.write(framed("answer"));
  CHECK(channel.receive(forever, 0).view() == "answer");
}

TEST_CASE("the process at the other end is put on one core and let go again") {
  Host host;
  Pair pair;
  const compiler_gym::tests::Child child;
  Channel channel(pair.ours, host);
  channel.pid = child.pid;
  channel.place(sched_getcpu());
  CHECK(channel.is_placed);
  CHECK(compiler_gym::tests::cores_of(child.pid) == 1);
  channel.place(-1);
  CHECK(!channel.is_placed);
  CHECK(compiler_gym::tests::cores_of(child.pid) == compiler_gym::tests::cores_of(0));
}

TEST_CASE("the other process follows this thread while a core is crowded") {
  Host host;
  Pair pair;
  const compiler_gym::tests::Child child;
  const int cores = compiler_gym::tests::cores_of(0);
  Channel channel(pair.ours, host);
  channel.pid = child.pid;
  channel.settle();
  CHECK(!channel.is_placed);
  channel.sleeps = true;
  channel.settle();
  CHECK(channel.is_placed);
  CHECK(compiler_gym::tests::cores_of(child.pid) == 1);
  channel.seconds = 1;  // a long step
  channel.settle();
  CHECK(!channel.is_placed);
  channel.seconds = 0;
  channel.settle();
  CHECK(channel.is_placed);
  channel.sleeps = false;
  channel.settle();
  CHECK(!channel.is_placed);
  CHECK(compiler_gym::tests::cores_of(child.pid) == cores);
}

TEST_CASE("an ended process is not placed: its number may be reused") {
  Host host;
  const compiler_gym::tests::Child child;  // first, or it would inherit the other end
  Pair pair;
  Channel channel(pair.ours, host);
  channel.pid = child.pid;
  pair.hang_up();
  channel.place(sched_getcpu());
  CHECK(!channel.is_placed);
}

TEST_CASE("a length reserves nothing, and a frame gets memory as its bytes arrive") {
  class Counting : public Host {
   public:
    Bytes make_bytes(std::size_t size) override {
      largest = std::max(largest, size);
      return size > limit ? Bytes() : Host::make_bytes(size);
    }
    std::size_t largest = 0, limit = std::size_t{1} << 40;
  } host;
  const Pair pair;
  Channel channel(pair.ours, host);
  const auto frame_of = [](std::uint64_t length) {
    return std::string(reinterpret_cast<const char*>(&length), sizeof(length));
  };
  pair.write(frame_of(1 << 30) + "five!");
  CHECK(error_of([&] { channel.receive(seconds_now() + 0.02, 0); }) == ETIMEDOUT);
  CHECK(host.largest == 0);
  std::thread writer([&] { pair.write(std::string(1 << 20, 'x')); });
  CHECK(error_of([&] { channel.receive(seconds_now() + 0.02, 0); }) == ETIMEDOUT);
  writer.join();
  CHECK(host.largest <= 4 << 20);
  const Pair other, third;
  Channel long_one(other.ours, host), poor(third.ours, host);
  other.write(frame_of((1 << 30) + 1));
  CHECK(error_of([&] { long_one.receive(forever, 0); }) == EPROTO);
  host.limit = 3;
  third.write(framed("four"));
  CHECK(error_of([&] { poor.receive(forever, 0); }) == ENOMEM);
}

TEST_CASE("bytes that keep coming do not move a deadline") {
  Host host;
  const Pair pair;
  Channel channel(pair.ours, host);
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    pair.write(std::string("\0\0\1\0\0\0\0\0", 8));
    while (!is_over) {
      pair.write("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const double began = seconds_now();
  CHECK(error_of([&] { channel.receive(began + 0.05, 0); }) == ETIMEDOUT);
  CHECK(seconds_now() < began + 0.05 + rest_seconds + 1);
  is_over = true;
  writer.join();
}
