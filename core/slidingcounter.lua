-- The sliding-window counter. A state is written newest:count:count..., the number of the
-- newest interval and the counts of the last B + 1, newest first. Here a count is kept
-- under the number of its interval; level is what the intervals count that lie wholly in
-- the window of interval k, and part what the oldest, at its weight, takes beside them.

--- forget
since, newest, counts, turn = -1, 0, {}, 0

--- load
local i
for field in string.gmatch(value, '[^:]+') do
  local c = match(field, '^%d+$') and tonumber(field)
  if not c or c > exact then
    since, newest, counts = -1, 0, {}
    break
  end
  if not i then
    i, newest = c, c
  else
    if c > 0 and i >= 0 and i >= newest - intervals then
      counts[i], since = c, math.max(since, i * interval)
    end
    i = i - 1
  end
end
if since < 0 then
  newest = 0
end

--- life
life = (intervals + 1) * interval

--- level: old can be so far above a lowered limit that its product passes 2^53
k, level = floor(at / interval), 0
for i = k - intervals + 1, k do
  level = level + (counts[i] or 0)
end
part = (counts[k - intervals] or 0) * ((k + 1) * interval - at)
if part >= exact then
  part = 2 * count
else
  part = ceil(part / interval)
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
        e = math.max(0, interval - floor(room * interval / old))
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
local i = floor(charged / interval)
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
local fields = { format('%d', newest) }
for i = 0, intervals do
  fields[i + 2] = format('%d', counts[newest - i] or 0)
end
text = table.concat(fields, ':')
