-- The sliding-window log. A state is a list: an entry for each unit, oldest first, and
-- behind them the block, if there is one.

-- openList looks at the end of the list. Only what a decision needs is read of the rest.
local function openList(key)
  local last, s = call('LINDEX', key, -1), { key = key, len = 0, found = false }
  if not last then
    return s
  end
  s.found, s.len = true, call('LLEN', key)
  local from, till = match(last, '^B(%d+):(%d+);$')
  if from then
    s.marked, s.from, s.till, s.len = true, whole(from) or 0, whole(till), s.len - 1
    last = call('LINDEX', key, -2)
  end
  s.newest = whole(last)
  if not s.newest then
    s.len = 0
  end
  return s
end

-- unmark takes the block off the end, so that entries can follow.
local function unmark(s)
  if s.marked then
    call('RPOP', s.key)
    s.marked = false
  end
end

local function closeList(s, block, life)
  unmark(s)
  if block ~= '' then
    call('RPUSH', s.key, block)
  end
  call('PEXPIRE', s.key, life)
end

local function entry(s, i)
  return whole(call('LINDEX', s.key, i)) or 0
end

-- before is how many entries are earlier than edge.
local function before(s, edge)
  if s.len == 0 or s.newest < edge then
    return s.len
  end
  s.oldest = s.oldest or entry(s, 0)
  if s.oldest >= edge then
    return 0
  end
  local low, high = 1, s.len - 1 -- the answer is one of these
  while low < high do
    local middle = div(low + high, 2)
    if entry(s, middle) < edge then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- push adds n entries of one time, in pieces that a call can take.
local function push(s, at, n)
  if s.len > 0 then
    at = max(at, s.newest)
  end
  s.newest, s.oldest, s.len, s.found = at, s.oldest or at, s.len + n, true
  local text = format('%.0f', at)
  if n == 1 then
    call('RPUSH', s.key, text)
    return
  end
  local unpack, piece = table.unpack or unpack, {}
  for i = 1, min(n, 1000) do
    piece[i] = text
  end
  while n > 0 do
    call('RPUSH', s.key, unpack(piece, 1, min(n, 1000)))
    n = n - 1000
  end
end

local function drop(s, n)
  if n == s.len then
    if s.found then
      call('DEL', s.key)
    end
    s.len, s.found, s.marked, s.oldest = 0, false, false, nil
  elseif n > 0 then
    call('LTRIM', s.key, n, -1)
    s.len, s.oldest = s.len - n, nil
  end
end

-- remove takes out at most n of the entries from low up to high, not including it.
local function remove(s, low, high, n)
  local from = before(s, low)
  n = min(n, before(s, high) - from)
  while n > 0 do
    local removed = call('LREM', s.key, -n, call('LINDEX', s.key, from))
    n, s.len, s.oldest = n - removed, s.len - removed, nil
  end
  s.newest = s.len > 0 and entry(s, s.len - 1)
end

local function since(t, s)
  if s.len == 0 then
    return 0, 0
  end
  return div(s.newest, t.tick), t.period
end

local function gone(t, s, at)
  local edge = (at - t.period + 1) * t.tick -- the first microsecond that counts
  return before(s, edge)
end

local function fit(t, s, at, n)
  local gone = gone(t, s, at)
  local excess = s.len - gone + n - t.count
  if excess <= 0 then
    return 0, 0
  end
  return div(entry(s, gone + excess - 1), t.tick) + t.period - at, 0
end

local function charge(t, s, at, n)
  unmark(s)
  drop(s, gone(t, s, at))
  push(s, at * t.tick, n)
  return 0
end

local function owe(t, s, at, n)
  local live = s.len - gone(t, s, at)
  charge(t, s, at, min(n, max(0, 2 * t.count - live)))
end

local function refund(t, s, _, n, charged)
  remove(s, charged * t.tick, (charged + 1) * t.tick, n)
end

local function report(t, s, at)
  local live = s.len - gone(t, s, at)
  if live == 0 then
    return t.count, 0
  end
  return max(0, t.count - live), div(s.newest, t.tick) + t.period - at
end

local function forget(s)
  s.len, s.oldest = 0, nil
end

return {
  open = openList,
  close = closeList,
  since = since,
  fit = fit,
  charge = charge,
  owe = owe,
  refund = refund,
  report = report,
  forget = forget,
}
