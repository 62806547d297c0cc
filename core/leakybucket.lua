-- The leaky bucket, over what the buckets share. It numbers its turns, behind the tick.

--- ready
width = 36

--- load
local c
expires, since, used, c, turn = read('<dddfd', value)
if not (turn >= 0 and turn <= exact and turn % 1 == 0) then
  used = 0
end
-- room: accept

--- fit
if police == 0 then
  delay = level / count
  delay = delay + -delay % 1
end

--- charge
turn = turn + 1

--- owe
turn = turn + 1

--- refund
if police == 1 or (mine == turn and charged == since) then
  used = math.max(0, used - less * period)
else
  write = false -- these terms may have cut what was used under others
end

--- save
text = pack('<dddfd', leaves, since, used, tick, turn)
