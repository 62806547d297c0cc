-- The fixed window. A state is the window and its count; level is what the window at at
-- counts.

--- ready
width = 24

--- forget
since, window, counted, turn = 0, 0, 0, 0

--- load
expires, window, counted = read('<ddd', value)
since, turn = window * period, 0
if not (counted > 0 and counted <= exact and counted % 1 == 0 and window >= 0 and window <= exact and window % 1 == 0) then
  expires = 0
  -- room: forget
end

--- life
life = period

--- level
k, level = at / period, 0
k = k - k % 1
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
if window == math.floor(charged / period) then
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
text = pack('<ddd', leaves, window, counted)
