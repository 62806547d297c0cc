-- Every decision, in one run of one script: evaluate all that is asked, then charge all
-- of it or none. It decides exactly as the Go code beside it, under the same names;
-- what is in one only is the reading and writing of keys.
--
-- Units: times are whole microseconds in ARGV and in the reply, ticks inside (a tick is
-- 1, 1e3 or 1e6 of them). Every number is whole and at most 2^53, which doubles hold
-- exactly; floor(a / b) and ceil(a / b) of such are exact as well, since the quotient is
-- never rounded across a whole number: its distance from one is at least 1 / b, and half
-- of its last place is less. Of a quotient q, q - q % 1 is the floor and q + -q % 1 the
-- ceiling, without a call.
-- Clock: the server's TIME, read once, unless a test passes the time in.
-- KEYS: one for each ask, in order. A state is one key.
-- ARGV: one text of numbers, each a double of 8 bytes, little-endian: the verb (0 weigh,
-- 1 take, 2 adjust, 3 block, 4 reset); the time, -1 for the server's. Then come runs of
-- decisions that differ in their keys only: the number of decisions, the number of asks
-- in each, and for each ask twelve: the algorithm by its number in Go, count, capacity,
-- tick, period in ticks, intervals, 1 if it polices, 1 if it is a dry run, and
--   take:   cost, longest wait (-1: any), 0, 0
--   weigh:  the same: it is a take that charges nothing
--   adjust: units charged, units it should have been, time of the charge, turn
--   block:  length (0 lifts the block), 0, 0, 0
--   reset:  0, 0, 0, 0
-- Reply: one text of such numbers. take and weigh give six for each ask: 0 refused, 1
-- charged, 2 never, 3 allowed without a charge or 5 refused and blocked; remaining; the
-- wait of a refused one or the delay of a charged one; reset after; time of the charge;
-- turn. The other verbs give a 1 for each ask. A decision that failed among several gives
-- a 4, a length and so many bytes of its error instead; a lone one fails the call.
--
-- A script starts from its first line every time, and a function or a table costs more to
-- make than what it would compute. So there is one loop, and what is done for an ask
-- stands in it once for each algorithm: see ask.lua.

local verb, us, left, n = struct.unpack('<dddd', ARGV[1]) -- decisions of a run that are left, and the asks of each
if verb == 4 then
  for i = 1, #KEYS do
    redis.call('DEL', KEYS[i])
  end
  return struct.pack('<d', 1)
end
local time = redis.call('TIME')
local real, leastLife = time[1] * 1000000 + time[2], 0
if us < 0 then
  us = real
else
  leastLife = 60000000
end

local first, argument, keys = 33, 33 + n * 96, 0 -- the first two are places in ARGV[1]
local reply, answers, start = {}, 0, 0

-- run decides all that is left. It begins again behind a decision that fails. What it is
-- given costs less than what it shares.
local function run(verb, us, real, leastLife)
  local KEYS, numbers, call, pack, read = KEYS, ARGV[1], redis.call, struct.pack, struct.unpack
  local takes, exact = verb <= 1, 9007199254740992
  local texts, lives = {}, {} -- what the asks of a decision write, and until when it lives
  local ready = 0 -- the place of the ask that is in the locals
  local algorithm, count, capacity, tick, period, intervals, police, dryRun, interval, width, shape, shaped
  local cost, longest, units, actual, charged, mine, now = 0, -1, 0, 0, 0, 0, us
  local since, used, level, turn, window, counted, newest, counts, k, part, len, oldest, found, marked, gone

  while left > 0 or argument <= #numbers do
    if left == 0 then
      left, n = read('<dd', numbers, argument)
      first = argument + 16
      argument = first + n * 96
    end
    local admitted, pass = verb == 1, 2
    if n > 1 then
      pass = 1 -- several are all evaluated before anything is written
    end
    start, left = answers, left - 1

    while pass <= 2 do
      answers = start
      for i = 1, n do
        local key, ask = KEYS[keys + i], first + (i - 1) * 96
        answers = answers + 1
        -- What the first pass has made ready need not be decided again.
        if pass == 1 or n == 1 or not admitted or texts[i] == nil then
          if ask ~= ready then
            algorithm, count, capacity, tick, period, intervals, police, dryRun, units, actual, charged, mine =
              read('<dddddddddddd', numbers, ask)
            if takes then
              cost, longest = units, actual
            end
            interval, now, ready = period / intervals, us / tick, ask
            now = now - now % 1
          end
          -- asks
        end
        local text, life = texts[i], lives[i]
        if pass == 2 and text then
          if not life then
            call('SETRANGE', key, '0', text)
          elseif life == 0 then
            call('DEL', key)
          else
            call('SET', key, text, 'PXAT', string.format('%d', life))
          end
        end
      end
      pass = pass + 1
    end
    keys = keys + n
  end
end

if #KEYS == n then -- one decision
  run(verb, us, real, leastLife)
  return table.concat(reply)
end
while true do
  local fine, failure = pcall(run, verb, us, real, leastLife)
  if fine then
    return table.concat(reply, '', 1, answers)
  end
  local text = type(failure) == 'table' and failure.err or tostring(failure)
  if string.match(text, '^%-?READONLY') or string.match(text, '^%-?OOM') or string.match(text, '^%-?MISCONF') then
    return redis.error_reply(text) -- the server takes no writes: nothing was charged
  end
  text = string.sub(text, 1, 200)
  answers, keys = start + 1, keys + n
  reply[answers] = struct.pack('<dd', 4, #text) .. text
end
