#include "compiler_gym/service/exchange.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <deque>
#include <stdexcept>
#include <thread>

#include "sockets.h"

using namespace compiler_gym::service;
using compiler_gym::tests::bytes;
using compiler_gym::tests::framed;
using compiler_gym::tests::Pair;
using compiler_gym::tests::usual_reply;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Channels that hold a request each, and threads that answer some of them.
struct Crowd {
  Crowd(int count, double limit) : pairs(static_cast<std::size_t>(count)) {
    for (auto& pair : pairs) {
      channels.emplace_back(pair.ours, host);
      channels.back().hold(bytes("question"), limit);
      pointers.push_back(&channels.back());
    }
  }
  ~Crowd() {
    for (auto& thread : threads) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void answer(std::size_t number, const std::string& message) {
    threads.emplace_back([this, number, message] {
      char first;
      if (recv(pairs[number].theirs, &first, 1, 0) == 1) pairs[number].write(framed(message));
    });
  }

  Host host;
  std::deque<Pair> pairs;
  std::deque<Channel> channels;
  std::vector<Channel*> pointers;
  std::vector<std::thread> threads;
};

}  // namespace

TEST_CASE("all requests get their replies, and the reports on workers are stored") {
  Crowd crowd(3, 30);
  for (std::size_t i = 0; i < 3; ++i) crowd.answer(i, usual_reply());
  exchange_at_once(crowd.pointers, 1e-3, 1e-3);
  for (auto& channel : crowd.channels) {
    CHECK(channel.core == 3);
    CHECK(channel.seconds == 0.5);
    CHECK(channel.receive(unlimited, 0).view() == usual_reply());
  }
}

TEST_CASE("one that does not answer is given up, and the others have their replies") {
  Crowd crowd(2, 0.05);
  crowd.answer(1, "answer");
  exchange_at_once(crowd.pointers, 0, 0);
  CHECK_THROWS_AS(crowd.channels[0].receive(crowd.channels[0].deadline, 0), ChannelError);
  CHECK(crowd.channels[1].receive(unlimited, 0).view() == "answer");
}

TEST_CASE("in turn all get their replies, however much is given out at once") {
  for (const double share : {0.0, 0.7, 1.0}) {
    Crowd crowd(5, 30);
    for (std::size_t i = 0; i < 5; ++i) crowd.answer(i, usual_reply());
    const Turns turns =
        exchange_in_turn(crowd.pointers, {1e-3, 5e-3, 2e-3, 4e-3, 3e-3}, share, 60, crowd.host);
    CHECK(turns.timed == 5);
    CHECK(turns.late == 0);
    for (auto& channel : crowd.channels) CHECK(channel.receive(unlimited, 0).is_valid());
  }
}

TEST_CASE("a reply that does not say how long it took is not timed") {
  Crowd crowd(2, 30);
  for (std::size_t i = 0; i < 2; ++i) crowd.answer(i, "another message");
  CHECK(exchange_in_turn(crowd.pointers, {1, 1}, 1, 1e-3, crowd.host).timed == 0);
}

TEST_CASE("a hanging request costs its seconds, and later ones are sent after that") {
  Crowd crowd(4, 0.05);
  for (std::size_t i = 1; i < 4; ++i) crowd.answer(i, "answer");
  exchange_in_turn(crowd.pointers, {4, 3, 2, 1}, 0, 1e-3, crowd.host);
  CHECK_THROWS_AS(crowd.channels[0].receive(crowd.channels[0].deadline, 0), ChannelError);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(crowd.channels[i].receive(unlimited, 0).view() == "answer");
  }
}

TEST_CASE("each channel needs an expected duration") {
  Crowd crowd(2, 30);
  CHECK_THROWS_AS(exchange_in_turn(crowd.pointers, {1}, 1, 1, crowd.host), std::invalid_argument);
}
