-- The sliding-window counter. A state is written newest:count:count..., the number of the
-- newest interval and the counts of the last B + 1, newest first. Here a count is kept
-- under the number of its interval.

local function load(t, value)
  t.interval = div(t.period, t.intervals)
  local s, i = { newest = 0 }, nil
  for field in string.gmatch(value, '[^:]+') do
    local n = whole(field)
    if not n then
      return { newest = 0 }
    end
    if i then
      s[i], i = n, i - 1
    else
      s.newest, i = n, n
    end
  end
  return s
end

local function count(t, s, i)
  if i > s.newest or i < s.newest - t.intervals or i < 0 then
    return 0
  end
  return s[i] or 0
end

local function save(t, s)
  local fields = { format('%.0f', s.newest) }
  for i = 0, t.intervals do
    fields[i + 2] = format('%.0f', count(t, s, s.newest - i))
  end
  return table.concat(fields, ':')
end

local function newest(t, s)
  for i = s.newest, s.newest - t.intervals, -1 do
    if count(t, s, i) > 0 then
      return i
    end
  end
end

local function since(t, s)
  local newest = newest(t, s)
  if not newest then
    return 0, 0
  end
  return newest * t.interval, (t.intervals + 1) * t.interval
end

local function full(t, s, k)
  local sum = 0
  for i = k - t.intervals + 1, k do
    sum = sum + count(t, s, i)
  end
  return sum
end

-- Compared before it is multiplied: old can be far above a lowered limit.
local function room(t, s, at, limit)
  local k, left = div(at, t.interval), t.interval - fmod(at, t.interval)
  local old, room = count(t, s, k - t.intervals), limit - full(t, s, k)
  if room <= 0 then
    return 0
  end
  if old == 0 then
    return room
  end
  if left > div(room * t.interval, old) then
    return 0
  end
  return room - ceilDiv(old * left, t.interval)
end

local function fit(t, s, at, n)
  if room(t, s, at, t.count) >= n then
    return 0, 0
  end
  local k = div(at, t.interval)
  local full = full(t, s, k)
  while true do
    local room = t.count - n - full
    if room >= 0 then
      -- It fits from where old x (S - e) <= room x S.
      local e, old = 0, count(t, s, k - t.intervals)
      if old > 0 then
        e = max(0, t.interval - div(room * t.interval, old))
      end
      if e < t.interval then
        return k * t.interval + e - at, 0
      end
    end
    k = k + 1
    full = full - count(t, s, k - t.intervals)
  end
end

local function charge(t, s, at, n)
  local k = div(at, t.interval)
  s[k] = count(t, s, k) + n
  s.newest = max(s.newest, k)
  return 0
end

local function owe(t, s, at, n)
  charge(t, s, at, min(n, room(t, s, at, 2 * t.count)))
end

local function refund(t, s, _, n, charged)
  local i = div(charged, t.interval)
  s[i] = count(t, s, i) - min(n, count(t, s, i))
end

local function report(t, s, at)
  local newest = newest(t, s)
  if not newest then
    return t.count, 0
  end
  return room(t, s, at, t.count), max(0, (newest + t.intervals + 1) * t.interval - at)
end

local function forget(s)
  for i in pairs(s) do
    if type(i) == 'number' then
      s[i] = nil
    end
  end
  s.newest = 0
end

return {
  load = load,
  save = save,
  since = since,
  fit = fit,
  charge = charge,
  owe = owe,
  refund = refund,
  report = report,
  forget = forget,
}
