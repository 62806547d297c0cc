-- The sliding-window counter. A state is the number of the newest interval and the counts
-- of the last B + 1, newest first, of 4 bytes each. Here a count is kept under the number
-- of its interval; level is what the intervals count that lie wholly in the window of
-- interval k, and part what the oldest, at its weight, takes beside them.

--- ready
width = 20 + 4 * intervals
if shaped ~= intervals then
  shape, shaped = '<dd' .. string.rep('I4', intervals + 1), intervals
end

--- forget
since, newest, counts, turn = -1, 0, {}, 0

--- load
local fields = { read(shape, value) }
since, counts, turn = -1, {}, 0
expires, newest = fields[1], fields[2]
if newest >= 0 and newest <= exact and newest % 1 == 0 then
  for i = newest, math.max(0, newest - intervals), -1 do
    local c = fields[3 + newest - i]
    if c > 0 then
      counts[i], since = c, math.max(since, i * interval)
    end
  end
end
if since < 0 then
  expires, newest = 0, 0
end

--- life
life = (intervals + 1) * interval

--- level: old can be so far above a lowered limit that its product passes 2^53
k, level = at / interval, 0
k = k - k % 1
for i = k - intervals + 1, k do
  level = level + (counts[i] or 0)
end
part = (counts[k - intervals] or 0) * ((k + 1) * interval - at)
if part >= exact then
  part = 2 * count
else
  part = part / interval
  part = part + -part % 1
end

--- fit
if level + part + cost > count then
  local i, full, e = k, level, interval
  while e >= interval do
    local room, old = count - cost - full, counts[i - intervals] or 0
    if room >= 0 then
      -- It fits from where old x (S - e) <= room x S.
      e = 0
      if old > 0 then
        e = math.max(0, interval - math.floor(room * interval / old))
      end
    end
    if e >= interval then
      i = i + 1
      full = full - (counts[i - intervals] or 0)
    end
  end
  retry = i * interval + e - at
end

--- charge
counts[k], level, since = (counts[k] or 0) + cost, level + cost, k * interval
if k > newest then
  newest = k
end

--- owe
counts[k] = (counts[k] or 0) + math.min(more, math.max(0, 2 * count - level - part))
since, newest = k * interval, math.max(newest, k)

--- refund
local i = math.floor(charged / interval)
if counts[i] then
  counts[i], since = counts[i] - math.min(less, counts[i]), -1
  for other, c in pairs(counts) do
    if c > 0 then
      since = math.max(since, other * interval)
    end
  end
end

--- report
if level + part < count then
  remaining = count - level - part
end
if since >= 0 then
  reset = math.max(0, since + (intervals + 1) * interval - at)
end

--- save
local fields = {}
for i = 0, intervals do
  fields[i + 1] = counts[newest - i] or 0
end
text = pack(shape, leaves, newest, (table.unpack or unpack)(fields))
