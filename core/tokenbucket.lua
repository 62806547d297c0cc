-- The token bucket, over what the buckets share.

--- ready
width = 28

--- load
local c
expires, since, used, c = read('<dddf', value)
turn = 0
-- room: accept

--- refund
used = math.max(0, used - less * period)

--- save
text = pack('<dddf', leaves, since, used, tick)
