#include "options.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "compiler_gym/llvm/errors.h"
#include "llvm/Support/CommandLine.h"

using namespace compiler_gym::llvm;

namespace {

::llvm::cl::opt<int> number("compiler-gym-test-number", ::llvm::cl::init(1));

}  // namespace

TEST_CASE("an option gets its value, and another one later") {
  set_option("compiler-gym-test-number", "5");
  CHECK(number == 5);
  set_option("compiler-gym-test-number", "5");
  CHECK(number.getNumOccurrences() == 1);
  set_option("compiler-gym-test-number", "-6");
  CHECK(number == -6);
}

TEST_CASE("an option that does not exist is an error, and so is a value that is none") {
  CHECK_THROWS_WITH_AS(set_option("no-such-option", "true"),
                       "this LLVM has no option -no-such-option", UnsupportedError);
  set_option("compiler-gym-test-number", "7");
  CHECK_THROWS_AS(set_option("compiler-gym-test-number", "seven"), UnsupportedError);
  set_option("compiler-gym-test-number", "7");
  CHECK(number == 7);
}

TEST_CASE("the options that the engine sets are there") {
  const auto& options = ::llvm::cl::getRegisteredOptions();
  for (const char* name :
       {"ir2vec-vocab-path", "pgo-analysis-map", "enable-detailed-function-properties"}) {
    CAPTURE(name);
    CHECK(options.count(name) == 1);
  }
}

TEST_CASE("other options apply for a while, and then the former ones again") {
  number.reset();
  {
    const OtherOptions other(OptionValues{{"compiler-gym-test-number", "3"}});
    CHECK(number == 3);
    const UsualOptions usual;  // other work of this thread
  }
  CHECK(number == 1);
  CHECK(number.getNumOccurrences() == 0);
}

TEST_CASE("options that LLVM refuses change nothing") {
  number.reset();
  const OptionValues unknown{{"compiler-gym-test-number", "3"}, {"no-such-option", "1"}};
  CHECK_THROWS_AS(OtherOptions{unknown}, PipelineError);
  const OptionValues bad{{"compiler-gym-test-number", "three"}};
  CHECK_THROWS_AS(OtherOptions{bad}, PipelineError);
  const OptionValues twice{{"compiler-gym-test-number", "3"}, {"compiler-gym-test-number", "4"}};
  CHECK_THROWS_AS(OtherOptions{twice}, PipelineError);
  CHECK(number == 1);
  CHECK(number.getNumOccurrences() == 0);
}

TEST_CASE("no other thread sees other options") {
  number.reset();
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const UsualOptions usual;
      wrong += number != 1;
    }
  });
  for (int i = 0; i < 200; ++i) {
    const OtherOptions other(OptionValues{{"compiler-gym-test-number", "3"}});
    std::this_thread::yield();
  }
  done = true;
  reader.join();
  CHECK(wrong == 0);
}

TEST_CASE("an option is set for the process once no thread runs LLVM") {
  set_option("compiler-gym-test-number", "1");
  std::future<void> setting;
  {
    const UsualOptions usual;  // this thread runs LLVM
    setting = std::async(std::launch::async, [] { set_option("compiler-gym-test-number", "2"); });
    CHECK(setting.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout);
    CHECK(number == 1);
    set_option("compiler-gym-test-number", "1");  // its current value needs no lock
  }
  setting.get();
  CHECK(number == 2);
  const UsualOptions usual;  // this thread's own guard does not block it
  set_option("compiler-gym-test-number", "3");
  CHECK(number == 3);
}

TEST_CASE("a process that is copied while another thread runs LLVM may have it alone") {
  std::promise<void> copied, running;
  std::thread other([&] {
    const UsualOptions usual;
    running.set_value();
    copied.get_future().wait();
  });
  running.get_future().wait();
  number.reset();
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // a lock without an owner would block forever
    {
      const OtherOptions alone(OptionValues{{"compiler-gym-test-number", "9"}});
    }
    _exit(0);
  }
  copied.set_value();
  other.join();
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
