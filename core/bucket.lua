-- What the two buckets share. A state is since and used, and the tick as a number of 4
-- bytes. Here it is kept in the ticks of the terms: used as it stood at since, level as
-- it is at at.

--- forget
since, used, level, turn = 0, 0, 0, 0

--- accept: what was loaded, if it is a state
if c ~= tick then
  if c == 1 or c == 1000 or c == 1000000 then
    since = math.floor(since * c / tick)
    used = math.min(math.ceil(used / math.max(1, math.floor(period * tick / c))), 2 * capacity) * period
  else
    used = 0
  end
end
if not (used > 0 and used <= exact and used % 1 == 0 and since >= 0 and since <= exact and since % 1 == 0) then
  expires = 0
  -- room: forget
elseif used > 2 * capacity * period then
  used = 2 * capacity * period
end

--- life
life = math.ceil(used / count)

--- level: compared before it is multiplied, since a long time would pass 2^53
level = used
if at > since then
  if at - since >= used / count then
    level = 0
  else
    level = used - (at - since) * count
  end
end

--- fit
local excess = level + (cost - capacity) * period
if excess > 0 then
  retry = math.ceil(excess / count)
end

--- charge
since, level = at, level + cost * period
used = level

--- owe
since, used = at, math.min(level + math.min(more, 2 * capacity) * period, 2 * capacity * period)

--- report
if level < capacity * period then
  remaining = (capacity * period - level) / period
  remaining = remaining - remaining % 1
end
reset = level / count
reset = reset + -reset % 1
