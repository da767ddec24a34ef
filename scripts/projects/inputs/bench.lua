-- SPDX-License-Identifier: MIT
-- Tables, strings, closures, calls and numbers; the first argument divides the work.
local part = tonumber(arg and arg[1]) or 1
local function times(n) return math.max(1, n // part) end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function fibonacci(n) return n < 2 and n or fibonacci(n - 1) + fibonacci(n - 2) end

local function tree(depth)
  if depth == 0 then return {} end
  return {tree(depth - 1), tree(depth - 1)}
end

local function nodes(t) return t[1] and 1 + nodes(t[1]) + nodes(t[2]) or 1 end

local function spectral(n)
  local function a(i, j) local s = i + j; return 1.0 / (s * (s + 1) / 2 + i + 1) end
  local u, v = {}, {}
  for i = 1, n do u[i] = 1 end
  for _ = 1, 4 do
    for i = 1, n do
      local sum = 0
      for j = 1, n do sum = sum + a(i - 1, j - 1) * u[j] end
      v[i] = sum
    end
    u, v = v, u
  end
  return u[1]
end

local function words(n)
  local random, counts, pieces = 42, {}, {}
  for i = 1, n do
    random = (random * 1103515245 + 12345) % 2147483648
    local word = string.format("%x", random % 4096)
    counts[word] = (counts[word] or 0) + 1
    pieces[#pieces + 1] = word:upper():rep(2, "-")
  end
  local text = table.concat(pieces, " ")
  local found = 0
  for a, b in text:gmatch("(%u+)%d*%-(%w+)") do found = found + #a + #b end
  local sorted = {}
  for word, count in pairs(counts) do sorted[#sorted + 1] = {word, count} end
  table.sort(sorted, function(x, y)
    if x[2] ~= y[2] then return x[2] > y[2] end
    return x[1] < y[1]
  end)
  return found, sorted[1][1], (select(2, text:gsub("%d+", "#")))
end

local Point = {}
Point.__index = Point
Point.__add = function(p, q) return setmetatable({x = p.x + q.x, y = p.y - q.y}, Point) end
function Point:length() return self.x * self.x + self.y * self.y end

local function objects(n)
  local p, step = setmetatable({x = 0, y = 0}, Point), setmetatable({x = 1, y = 2}, Point)
  for _ = 1, n do p = p + step end
  return p:length()
end

local function producers(n)
  local make = coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
  local sum = 0
  for _ = 1, n do sum = sum + make() end
  return sum
end

print(sieve(times(3000000)))
print(part == 1 and fibonacci(31) or fibonacci(22))
print(nodes(tree(part == 1 and 18 or 12)))
print(string.format("%.9f", spectral(times(300))))
print(words(times(250000)))
print(objects(times(2000000)))
print(producers(times(800000)))
