-- What the two buckets share. A state is written since:used, and behind it :tick where
-- that is not 1 or a turn follows, and :turn. Here it is kept in the ticks of the terms:
-- used as it stood at since, level as it is at at.

--- forget
since, used, level, turn = 0, 0, 0, 0

--- load
local s, u, c, n = match(value, '^(%d+):(%d+):?(1?0*):?(%d*)$')
if s then
  s, u = s + 0, u + 0
  if c == '' then
    c = 1
  else
    c = c + 0
  end
  if c ~= tick and c <= exact then
    s = floor(s * c / tick)
    u = math.min(ceil(u / math.max(1, floor(period * tick / c))), 2 * capacity) * period
  end
  if u > 0 and s <= exact and u <= exact then
    since, used, turn = s, u, tonumber(n) or 0
    if used > 2 * capacity * period then
      used = 2 * capacity * period
    end
  end
end

--- life
life = ceil(used / count)

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
  retry = ceil(excess / count)
end

--- charge
since, level = at, level + cost * period
used = level

--- owe
since, used = at, math.min(level + math.min(more, 2 * capacity) * period, 2 * capacity * period)

--- report
if level < capacity * period then
  remaining = floor((capacity * period - level) / period)
end
reset = ceil(level / count)
