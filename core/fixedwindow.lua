-- The fixed window. A state is written window:count; level is what the window at at
-- counts.

--- forget
since, window, counted, turn = 0, 0, 0, 0

--- load
local w, c = match(value, '^(%d+):(%d+)$')
if w then
  w, c = w + 0, c + 0
  if c > 0 and w <= exact and c <= exact then
    since, window, counted = w * period, w, c
  end
end

--- life
life = period

--- level
k, level = floor(at / period), 0
if window == k then
  level = counted
end

--- fit
if level + cost > count then
  retry = (k + 1) * period - at
end

--- charge
window, level = k, level + cost
counted = level

--- owe
window, counted = k, level + math.min(more, math.max(0, 2 * count - level))

--- refund
if window == floor(charged / period) then
  counted = counted - math.min(less, counted)
end

--- report
if level < count then
  remaining = count - level
end
if level > 0 then
  reset = (k + 1) * period - at
end

--- save
text = format('%d:%d', window, counted)
