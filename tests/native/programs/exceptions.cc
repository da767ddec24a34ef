// SPDX-License-Identifier: MIT
// Exceptions, virtual calls, templates and constructors.
#include <cstddef>

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};

struct Square final : Shape {
  explicit Square(int side) : side(side) {
    if (side < 0) throw side;
  }
  ~Square() override { ++destroyed; }
  int area() const override { return side * side; }
  int side;
  static int destroyed;
};
int Square::destroyed = 0;

struct Pair final : Shape {
  Pair(int a, int b) : first(a), second(b) {}
  int area() const override {
    if (first.side == second.side) throw "equal";
    return first.area() + second.area();
  }
  Square first, second;
};

template <class T, std::size_t N>
T sum(const T (&values)[N]) {
  T total{};
  for (const T& value : values) total += value;
  return total;
}

int measure(const Shape& shape) {
  try {
    return shape.area();
  } catch (const char* text) {
    return text[0];
  }
}

int main(int argc, char** argv) {
  int result = 0;
  try {
    Pair pair(argc, 2);
    Square square(argc - 2);
    result = measure(pair) + measure(square);
  } catch (int side) {
    result = side;
  }
  const double values[] = {1.5, 2.5, argc * 1.0};
  return result + static_cast<int>(sum(values)) + Square::destroyed;
}
