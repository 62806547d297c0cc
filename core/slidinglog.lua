-- The sliding-window log. A state is a list: an entry for each unit, oldest first, and
-- behind them the block, if there is one. Only what a decision needs is read of it; gone
-- is how many of the oldest no longer count at at.

--- forget
since, len, oldest, turn = 0, 0, nil, 0

--- read
-- room: forget
len, marked = call('LLEN', key), false
found = len > 0
if found then
  local last = call('LINDEX', key, -1)
  from, till = string.match(last, '^B(%d+):(%d+);$')
  if till then
    marked, len = true, len - 1
    last = call('LINDEX', key, -2)
  end
  newest = tonumber(last)
  if newest and newest <= exact then
    since = math.floor(newest / tick)
  else
    len = 0
  end
end

--- life
life = period

--- search: low becomes how many entries are earlier than edge
low = 0
if len > 0 and newest < edge then
  low = len
elseif len > 0 then
  oldest = oldest or tonumber(call('LINDEX', key, 0)) or 0
  if oldest < edge then
    local high = len - 1
    low = 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if (tonumber(call('LINDEX', key, middle)) or 0) < edge then
        low = middle + 1
      else
        high = middle
      end
    end
  end
end

--- level
local edge, low = (at - period + 1) * tick, 0 -- the first microsecond that counts
-- room: search
gone = low
level = len - gone

--- fit
if level + cost > count then
  retry = math.floor((tonumber(call('LINDEX', key, gone + level + cost - count - 1)) or 0) / tick) + period - at
end

--- push: n entries, in pieces that a call can take, where those that are gone were
if marked then
  call('RPOP', key)
end
if gone == len then
  if found then
    call('DEL', key)
  end
  oldest = nil
elseif gone > 0 then
  call('LTRIM', key, gone, -1)
  oldest = nil
end
if level == 0 or newest < at * tick then
  newest = at * tick
end
marked, gone, level = false, 0, level + n
len, found = level, level > 0
local entry, piece, unpack = string.format('%d', newest), {}, table.unpack or unpack
for i = 1, math.min(n, 1000) do
  piece[i] = entry
end
while n > 0 do
  call('RPUSH', key, unpack(piece, 1, math.min(n, 1000)))
  n = n - 1000
end

--- charge
local n = cost
-- room: push

--- owe
local n = math.min(more, math.max(0, 2 * count - level))
-- room: push

--- refund
local edge, low = charged * tick, 0
-- room: search
local head = low
edge = (charged + 1) * tick
-- room: search
local n = math.min(less, low - head)
while n > 0 do
  local removed = call('LREM', key, -n, call('LINDEX', key, head))
  n, len, oldest = n - removed, len - removed, nil
end
newest = len > 0 and tonumber(call('LINDEX', key, len - 1))

--- report
if level < count then
  remaining = count - level
end
if level > 0 then
  reset = math.floor(newest / tick) + period - at
end

--- wait: it writes as it charges, so it does when all have been evaluated
acts = pass == 2
if not acts then
  texts[i] = nil
end

--- keep
if len > 0 then
  life = math.max(life, newest + period * tick - us)
end

--- write
if stays == 0 then
  call('DEL', key)
else
  if marked then
    call('RPOP', key)
  end
  if till then
    call('RPUSH', key, string.format('B%d:%d;', from, till))
  end
  call('PEXPIREAT', key, stays)
end
