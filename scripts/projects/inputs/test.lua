-- SPDX-License-Identifier: MIT
-- What the manual of Lua 5.4 says, asked of an interpreter. Its own suite is not in its sources.
local function check(name, found, expected)
  if found ~= expected then
    error(name .. ": expected " .. tostring(expected) .. ", found " .. tostring(found), 2)
  end
end
local function fails(name, f, words)
  local ok, message = pcall(f)
  check(name .. " fails", ok, false)
  check(name .. " says why", tostring(message):find(words, 1, true) ~= nil, true)
end

-- numbers
check("floor division", -7 // 2, -4)
check("modulo", -7 % 3, 2)
check("float modulo", -7.5 % 2, 0.5)
check("power", 2 ^ 10, 1024.0)
check("wrap", math.maxinteger + 1, math.mininteger)
check("shift", 1 << 63 >> 63, 1)
check("bits", (0xF0 & 0x3C) | (~0 ~ ~1), 0x31)
check("type", math.type(3 / 1), "float")
check("integer", math.tointeger(3.0), 3)
check("compare", 1 == 1.0 and math.ult(1, -1), true)
check("text of a float", tostring(1e15) .. tostring(0.1) .. tostring(2^53), "1e+150.19.007199254741e+15")
check("reads", tonumber("0x1p4"), 16.0)
check("base", tonumber("zz", 36), 1295)
check("nan", (0 / 0) ~= (0 / 0), true)
check("infinity", tostring(-1 / 0), "-inf")
fails("division", function() return 1 // 0 end, "divide by zero")
fails("arithmetic", function() return {} + 1 end, "arithmetic on a table value")

-- strings
check("format", string.format("%5.2f|%-5s|%05d|%q|%x", 3.14159, "ab", 42, "a\nb", 255),
  " 3.14|ab   |00042|\"a\\\nb\"|ff")
check("find", select(2, ("hello world"):find("o w", 1, true)), 7)
check("captures", ("key = value"):gsub("(%w+)%s*=%s*(%w+)", "%2=%1"), "value=key")
check("balanced", ("f(a(b)c)d"):match("%b()"), "(a(b)c)")
check("frontier", ("THE (quick) fox"):gsub("%f[%a]%a+", string.lower), "the (quick) fox")
check("position", ("abc"):match("()c"), 3)
check("bytes", string.char(("AZ"):byte(1, -1)), "AZ")
check("pack", string.unpack("<i4", string.pack("<i4", -2)), -2)
check("utf8", utf8.char(0x20AC, 0x10FFFF):len() + utf8.len("äöü"), 10)
check("repeat", ("ab"):rep(3, ","), "ab,ab,ab")
check("compare strings", "a" < "b" and "Z" < "a" and "" < "a", true)
check("long", #[==[
]]]==], 2)

-- tables
local t = {5, 2, 8, 1, n = 1, [2.0] = 2}
table.sort(t)
check("sort", table.concat(t, " "), "1 2 5 8")
table.insert(t, 2, 9)
check("remove", table.remove(t, 1) + #t, 5)
check("move", table.concat(table.move({1, 2, 3}, 2, 3, 1), ","), "2,3,3")
check("unpack", select("#", table.unpack({1, nil, 3}, 1, 3)), 3)
local many, sum = {}, 0
for i = 1, 1000 do many[i] = i; many["k" .. i] = i end
for i = 1, 1000, 2 do many[i] = nil; many["k" .. i] = nil end
for _, value in pairs(many) do sum = sum + value end
check("traversal", sum, 2 * 250500)
fails("invalid key", function() many[0 / 0] = 1 end, "index is NaN")

-- functions and control
local function count(...) return select("#", ...) end
check("varargs", count(nil, nil), 2)
local function deep(n) if n == 0 then return "bottom" end return deep(n - 1) end
check("tail calls", deep(200000), "bottom")
local made = {}
for i = 1, 3 do made[i] = function() i = i + 1; return i end end
check("closures", made[1]() + made[1]() + made[3](), 9)
do
  local s = 0
  for i = 10, 1, -3 do
    if i == 4 then goto continue end
    s = s + i
    ::continue::
  end
  check("goto", s, 18)
end
local log = {}
do
  local a <close> = setmetatable({}, {__close = function() log[#log + 1] = "a" end})
  local b <const> = "b"
  log[#log + 1] = b
end
check("close", table.concat(log), "ba")
fails("stack", function() local function f() return 1 + f() end return f() end, "stack overflow")

-- metatables
local proxy = setmetatable({}, {
  __index = function(_, k) return k .. "!" end, __call = function(_, x) return x * 2 end,
  __eq = function() return true end, __lt = function() return true end,
  __len = function() return 42 end, __concat = function(_, s) return "c" .. s end,
  __tostring = function() return "proxy" end, __pairs = function() return next, {1}, nil end})
check("metamethods", proxy.x .. proxy(4) .. #proxy .. tostring(proxy) .. (proxy .. "d"),
  "x!842proxycd")
for k, v in pairs(proxy) do check("pairs", k + v, 2) end

-- coroutines and errors
local co = coroutine.create(function(a)
  local b = coroutine.yield(a + 1)
  error({code = a + b})
end)
check("yield", select(2, coroutine.resume(co, 1)), 2)
local ok, err = coroutine.resume(co, 10)
check("error object", (ok and 0 or err.code), 11)
check("status", coroutine.status(co), "dead")
check("handler", select(2, xpcall(error, function(m) return "got " .. m end, "it")), "got it")

-- chunks, files and the collector
check("load", load("local a <const> = ...; return a * 2")(21), 42)
check("syntax", select(2, load("x =", "=c")), "c:1: unexpected symbol near <eof>")
local f = load(string.dump(function(x) return x + 1 end))
check("dump", f(1), 2)
local weak = setmetatable({}, {__mode = "k"})
weak[{}] = true
collectgarbage()
check("weak", next(weak), nil)
check("modes", collectgarbage("generational") .. collectgarbage("incremental"),
  "generationalgenerational")
local file = io.tmpfile()
file:write("one\n", 2, "\nthree")
file:seek("set")
check("lines", file:read("l") .. file:read("n") .. file:read("L") .. file:read("a"), "one2\nthree")
check("date", os.date("!%Y-%m-%d", 86400), "1970-01-02")
check("require", package.loaded.string, string)
print("lua: everything as the manual says")
