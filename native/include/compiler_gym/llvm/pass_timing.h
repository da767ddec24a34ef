// The time of a module's pipelines: nested passes, the analyses that they request,
// and the work around them.
//
// Equal parts under one parent are added up: a pass that ran on a thousand functions
// is one part with a thousand calls. The size of the tree thus depends on the pipelines,
// not on the program. Not thread safe, like the module.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class PassInstrumentationCallbacks;
}

namespace compiler_gym::llvm {

enum class PartKind { surroundings, pass, analysis, detection };

// The name of a kind for Python.
const char* part_kind_name(PartKind kind);

struct TimedPart {
  std::string name;
  PartKind kind;
  // the index of the enclosing part, which is smaller; -1 for none
  std::ptrdiff_t parent;
  std::uint64_t calls;
  std::int64_t nanoseconds;
};

class PassTiming {
 public:
  PassTiming();
  ~PassTiming();
  PassTiming(const PassTiming&) = delete;
  PassTiming& operator=(const PassTiming&) = delete;

  // Time every pass and analysis that `callbacks` report, as long as both live. Callbacks that were
  // registered earlier are not timed.
  void listen_to(::llvm::PassInstrumentationCallbacks& callbacks);

  // `name` must outlive the next `take`.
  void begin(PartKind kind, std::string_view name);
  void end();

  // Return the parts that ran since the last call. A part left open by an exception ends with its
  // parent.
  std::vector<TimedPart> take();

 private:
  using Clock = std::chrono::steady_clock;
  friend class Timed;

  struct Node {
    std::string_view name;
    PartKind kind;
    std::ptrdiff_t parent;
    std::uint64_t calls = 0;
    Clock::duration taken{};
    std::vector<std::ptrdiff_t> parts = {};
  };
  struct Open {
    std::ptrdiff_t node;
    Clock::time_point since;
  };
  struct Names;

  std::ptrdiff_t part(std::ptrdiff_t parent, PartKind kind, std::string_view name);
  void end_down_to(std::size_t depth);

  std::vector<Node> nodes_;
  std::vector<std::ptrdiff_t> roots_;
  std::vector<Open> open_;
  std::unique_ptr<Names> names_;
};

// Times a part from here to the end of the scope; costs a comparison without a timing.
class Timed {
 public:
  Timed(PassTiming* timing, PartKind kind, std::string_view name) : timing_(timing) {
    if (!timing_) return;
    depth_ = timing_->open_.size();
    timing_->begin(kind, name);
  }
  ~Timed() {
    if (timing_) timing_->end_down_to(depth_);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  PassTiming* timing_;
  std::size_t depth_ = 0;
};

}  // namespace compiler_gym::llvm
