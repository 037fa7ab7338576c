// The part of the document's Lua environment that is written in Lua.
//
// Loops are in Lua wherever Lua's own C function would run long unchecked: Lua instructions are counted, C code is not.

/** The chunk gets Lua's own libraries and our functions; it returns functions that the cell stores. */
export const PRELUDE = String.raw`
local own, host = ...
local string, table, math = own.string, own.table, own.math
local error, type, select, tonumber, floor = own.error, own.type, own.select, own.tonumber, math.floor
local ipairs, pairs, tostring, raw_pcall = own.ipairs, own.pairs, own.tostring, own.pcall
local format = host.format

-- Numbers are doubles for documents: positions lose their fraction, results of C functions become floats.
local function whole(value)
  if type(value) == "string" then value = tonumber(value) or value end
  if type(value) ~= "number" or value % 1 == 0 then return value end
  if value < 0 then return -floor(-value) end
  return floor(value)
end
local function double(value)
  if value == nil then return nil end
  return value + 0.0
end
local function check_table(value, name)
  if type(value) ~= "table" then
    error("bad argument #1 to '" .. name .. "' (table expected, got " .. type(value) .. ")", 3)
  end
end

-- A limit that was reached may not be caught: code that protected a call passes the error on.
local function passed(...)
  if host.exceeded() then host.rethrow() end
  return ...
end
local function protected(f, ...)
  return passed(raw_pcall(f, ...))
end

local function gmatch(text, pattern)
  host.match(text, pattern)
  local offset = 0
  local function advance(next, ...)
    offset = next
    return ...
  end
  return function() return advance(host.gmatch_step(text, pattern, offset)) end
end

local function insert(list, ...)
  check_table(list, "insert")
  local count, size = select("#", ...), #list
  if count == 1 then
    list[size + 1] = (...)
  elseif count == 2 then
    local position, value = ...
    position = whole(position)
    if type(position) ~= "number" then error("bad argument #2 to 'insert' (number expected)", 2) end
    for i = size, position, -1 do list[i + 1] = list[i] end
    list[position] = value
  else
    error("wrong number of arguments to 'insert'", 2)
  end
end
local function remove(list, position)
  check_table(list, "remove")
  local size = #list
  position = position == nil and size or whole(position)
  if not (1 <= position and position <= size) then return nil end
  local value = list[position]
  for i = position, size - 1 do list[i] = list[i + 1] end
  list[size] = nil
  return value
end
local function ascending(a, b) return a < b end

local function group(digits)
  local out = ""
  while #digits > 3 do
    out = "," .. string.sub(digits, -3) .. out
    digits = string.sub(digits, 1, -4)
  end
  return digits .. out
end
local formats = {}
function formats.number(value)
  local text = format("%.0f", floor(value))
  local sign, digits = host.match(text, "^(-?)(%d+)$")
  if not digits then return text end
  return sign .. group(digits)
end
function formats.tokens(value)
  if value < 4000 then return formats.number(value) end
  local scaled, unit = value / 1000, "K"
  if value >= 1000000 then scaled, unit = value / 1000000, "M" end
  return (host.gsub(format("%.1f", scaled), "%.0$", "")) .. unit
end
function formats.money(value)
  if value % 1 == 0 then return "$" .. format("%.0f", value) end
  local places = value >= 1 and 2 or value >= 0.01 and 3 or 4
  local text = format("%." .. format("%d", places) .. "f", value)
  return "$" .. (host.gsub(text, "(%.%d%d%d-)0+$", "%1"))
end
function formats.percent(ratio, places)
  return format("%." .. format("%d", places or 0) .. "f%%", ratio * 100)
end

local function values(list)
  local index = 0
  return function()
    index = index + 1
    return list[index]
  end
end
local function each(list)
  local length, index, loop = #list, 0, {}
  return function()
    index = index + 1
    if index > length then return nil end
    loop.index, loop.index0, loop.first, loop.last, loop.length =
      index + 0.0, index - 1.0, index == 1, index == length, length + 0.0
    return list[index], loop
  end
end

local symbols = { BINARY = {}, MIME = {} }

local function strings()
  return {
    byte = function(text, i, j) return string.byte(text, whole(i), whole(j)) end,
    char = string.char,
    find = host.find, match = host.match, gmatch = gmatch, gsub = host.gsub, format = format,
    len = string.len, lower = string.lower, upper = string.upper, reverse = string.reverse,
    rep = function(text, count, separator)
      host.spend(0)
      return string.rep(text, whole(count), separator)
    end,
    sub = function(text, i, j) return string.sub(text, whole(i), whole(j)) end,
  }
end
host.string_methods(strings())

-- A fresh set for each environment: what a chunk does to these tables stays its own.
local function builtins()
  return {
    string = strings(),
    table = {
      insert = insert, remove = remove,
      concat = function(list, separator, i, j)
        check_table(list, "concat")
        host.spend(#list)
        return table.concat(list, separator, whole(i), whole(j))
      end,
      sort = function(list, before)
        check_table(list, "sort")
        return table.sort(list, before or ascending)
      end,
    },
    math = {
      abs = function(x) return double(math.abs(x)) end,
      ceil = function(x) return double(math.ceil(x)) end,
      floor = function(x) return double(floor(x)) end,
      round = function(x) return double(floor(x)) end,
      max = math.max, min = math.min, pi = math.pi,
      random = function(low, high)
        if low == nil then return math.random() end
        if high == nil then return double(math.random(whole(low))) end
        return double(math.random(whole(low), whole(high)))
      end,
      randomseed = function(seed) math.randomseed(seed) end,
    },
    os = { clock = host.clock, date = host.date, time = host.time, difftime = function(a, b) return a - (b or 0) end },
    vim = {
      fn = {
        fnamemodify = host.fnamemodify, getcwd = host.getcwd, filereadable = host.filereadable, simplify = host.simplify,
      },
      fs = { normalize = host.normalize, abspath = host.abspath },
    },
    assert = own.assert, error = error, ipairs = ipairs, pairs = pairs, pcall = protected, tostring = tostring, type = type,
    select = function(which, ...) return select(whole(which), ...) end,
    tonumber = function(value, base)
      if base == nil then return double(tonumber(value)) end
      return double(tonumber(tostring(value), whole(base)))
    end,
    _VERSION = "Lua 5.1",
    format = {
      number = formats.number, tokens = formats.tokens, money = formats.money, percent = formats.percent,
    },
    values = values, each = each,
    symbols = { BINARY = symbols.BINARY, MIME = symbols.MIME },
  }
end

-- Copies a value with everything in it, so that neither side can change the other's; functions and symbols stay.
local function copy(value, seen)
  if type(value) ~= "table" then return value end
  if seen[value] then return seen[value] end
  local taken = host.settings_value(value)
  if taken ~= nil then return taken end
  local out = {}
  seen[value] = out
  for key, member in pairs(value) do out[copy(key, seen)] = copy(member, seen) end
  return out
end
local function copy_value(value)
  return copy(value, { [symbols.BINARY] = symbols.BINARY, [symbols.MIME] = symbols.MIME })
end

return builtins, copy_value, symbols
`;
