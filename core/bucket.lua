-- What the two buckets share. A state is written since:used:tick[:turn], and is kept
-- here in the ticks of the terms.

local function load(t, value)
  local since, used, tick, turn = match(value, '^(%d+):(%d+):(10*):?(%d*)$')
  since, used, tick, turn = whole(since), whole(used), whole(tick), whole(turn) or 0
  if not (since and used and tick) then
    return { since = 0, used = 0, turn = 0 }
  end
  if tick ~= t.tick then
    local period = max(1, div(t.period * t.tick, tick))
    since = div(since * tick, t.tick)
    used = min(ceilDiv(used, period), 2 * t.capacity) * t.period
  end
  return { since = since, used = min(used, 2 * t.capacity * t.period), turn = turn }
end

local function save(t, s)
  if s.turn == 0 then
    return format('%.0f:%.0f:%.0f', s.since, s.used, t.tick)
  end
  return format('%.0f:%.0f:%.0f:%.0f', s.since, s.used, t.tick, s.turn)
end

-- drained is compared before it is multiplied: a long time would pass 2^53. (A quotient
-- of whole numbers below 2^53 is never rounded across a whole one.)
local function drained(t, s, at)
  local elapsed = at - s.since
  if elapsed <= 0 then
    return s.used
  end
  if elapsed >= s.used / t.count then
    return 0
  end
  return s.used - elapsed * t.count
end

local function since(t, s)
  return s.since, ceilDiv(s.used, t.count)
end

local function wait(t, used, n)
  local excess = used + (n - t.capacity) * t.period
  if excess <= 0 then
    return 0
  end
  return ceilDiv(excess, t.count)
end

local function add(t, s, at, n)
  s.since, s.used = at, drained(t, s, at) + n * t.period
end

local function fill(t, s, at, n)
  local most = 2 * t.capacity
  s.since, s.used = at, min(drained(t, s, at) + min(n, most) * t.period, most * t.period)
end

local function take(t, s, n)
  s.used = max(0, s.used - n * t.period)
end

local function report(t, s, at)
  local used = drained(t, s, at)
  return div(max(0, t.capacity * t.period - used), t.period), ceilDiv(used, t.count)
end

local function forget(s)
  s.since, s.used, s.turn = 0, 0, 0
end
