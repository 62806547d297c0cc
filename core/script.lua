-- Every decision, in one run of one script: evaluate all that is asked, then charge all
-- of it or none. It decides exactly as the Go code beside it, under the same names;
-- what is in one only is the reading and writing of keys.
--
-- Units: times are whole microseconds in ARGV and in the reply, ticks inside (a tick is
-- 1, 1e3 or 1e6 of them). Every number is whole and at most 2^53, which doubles hold
-- exactly.
-- Clock: the server's TIME, read once, unless a test passes the time in.
-- KEYS: one for each ask, in order. A state is one key.
-- ARGV: the verb (take, adjust, block or reset); the time, '' for the server's; the
-- number of terms, and for each: the algorithm by its number in Go, count, capacity, tick,
-- period in ticks, intervals, 1 if it polices, 1 if it is a dry run. Then for each
-- decision the number of its asks, and for each ask the index of its terms, from 1, and
--   take:   cost, longest wait (-1: any)
--   adjust: units charged, units it should have been, time of the charge, turn
--   block:  length (0 lifts the block)
--   reset:  nothing
-- Reply: a flat array. take gives for each ask 8 integers: 0 refused, 1 allowed or 2
-- never; remaining; retry after; reset after; delay; units charged; time of the charge;
-- turn. The other verbs give a 1 for each decision. A decision that failed among several
-- gives one string instead, its error; a lone one fails the call.

local call, floor, fmod, max, min = redis.call, math.floor, math.fmod, math.max, math.min
local byte, format, match, tonumber = string.byte, string.format, string.match, tonumber

-- div is a / b rounded down, exactly: % and / go through fractions that doubles do not
-- hold. floor keeps whole numbers whole in Lua 5.4 too.
local function div(a, b)
  return floor((a - fmod(a, b)) / b)
end

-- ceilDiv is a / b rounded up, for a >= 0 and b > 0. (a + b could pass 2^53.)
local function ceilDiv(a, b)
  local rest = fmod(a, b)
  if rest == 0 then
    return floor(a / b)
  end
  return floor((a - rest) / b) + 1
end

-- whole reads a stored number, nil where it is none of ours.
local function whole(text)
  local n = tonumber(text or '')
  if n and n <= 9007199254740992 then
    return n
  end
end

-- roomOf builds the room of an algorithm. It is called for those that are asked for only,
-- since a script starts from its first line every time.
local function roomOf(algorithm)
  -- The rooms go here.
end

-- evaluate says what n units meet in a state at now: the fields of a verdict. It changes
-- nothing.
local function evaluate(t, s, now, n, longest, blockedFor)
  if t.capacity == 0 then
    return now, 0, true, 0, 0, true
  end
  local at, ahead, forgotten, retry, delay = now, 0, true, 0, 0
  local since, life = t.room.since(t, s)
  if life > 0 and since - now <= life then
    forgotten = false
    if since > now then -- the clock has stepped back: the state's time decides
      at, ahead = since, since - now
    end
  end
  if n > t.capacity then
    return at, ahead, forgotten, 0, 0, true
  end
  if n > 0 and not forgotten then
    retry, delay = t.room.fit(t, s, at, n)
  end
  if retry > 0 then
    retry = retry + ahead
  end
  if delay > 0 then
    delay = delay + ahead
    if longest >= 0 and delay > longest then
      retry = max(retry, delay - longest)
    end
  end
  return at, ahead, forgotten, max(retry, blockedFor), delay, false
end

-- report is what remains in a state and when it resets, on the clock.
local function report(a)
  local remaining, reset = a.t.capacity, 0
  if not a.forgotten then
    remaining, reset = a.t.room.report(a.t, a.s, a.at)
  end
  if reset > 0 then
    reset = reset + a.ahead
  end
  if a.blockedFor > 0 then
    remaining = 0
  end
  return remaining, max(reset, a.blockedFor)
end

-- left is what is left of a state's block at now, in ticks. One that begins after now was
-- made before the clock stepped back and counts as none.
local function left(t, s, now)
  if div(s.from, t.tick) > now then
    return 0
  end
  return max(0, ceilDiv(s.till, t.tick) - now)
end

local us, leastLife = tonumber(ARGV[2]), 60000
if not us then
  local time = call('TIME')
  us, leastLife = tonumber(time[1]) * 1000000 + tonumber(time[2]), 0
end

-- open reads the state of an ask's key, and the block before it: B<from>:<till>;<state>.
-- The log has a way of its own. What is no state of ours is as if never seen.
local function open(a)
  local t, s = a.t, nil
  if t.room.open then
    s = t.room.open(a.key)
  else
    local from, till
    local value = call('GET', a.key) or ''
    if byte(value) == 66 then
      from, till, value = match(value, '^B(%d+):(%d+);(.*)$')
    end
    a.text = value or ''
    s = t.room.load(t, a.text)
    if from then
      s.from, s.till = whole(from) or 0, whole(till)
    end
  end
  a.s = s
  if s.till then
    a.blockedFor = left(t, s, a.now)
  end
end

-- close writes the state, to leave once its reset has passed, or after a minute at least
-- where the time was passed in. What counts nothing is deleted. A block stays, also one
-- that begins after now: the clock may come back. Text is the state's, where it is kept.
local function close(a, reset, text)
  local t, s, block = a.t, a.s, ''
  if s.till then
    local rest = ceilDiv(s.till, t.tick) - a.now
    if rest > 0 or leastLife > 0 then
      block = format('B%.0f:%.0f;', s.from, s.till)
      reset = max(reset, rest)
    end
  end
  local life = max(leastLife, ceilDiv(reset * t.tick, 1000))
  if life == 0 then
    call('DEL', a.key)
  elseif t.room.close then
    t.room.close(s, block, life)
  else
    call('SET', a.key, block .. (text or t.room.save(t, s)), 'PX', life)
  end
end

-- append adds the words of one list to another.
local function append(list, words)
  if not list then
    return words
  end
  for i = 1, #words do
    list[#list + 1] = words[i]
  end
  return list
end

-- writable makes the state of an ask one to add to.
local function writable(a)
  if a.forgotten then
    a.t.room.forget(a.s)
    a.forgotten = false
  end
  return a.s
end
