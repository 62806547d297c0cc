-- The leaky bucket, over what the buckets share. It numbers its turns.

--- fit
if police == '0' then
  delay = ceil(level / count)
end

--- charge
turn = turn + 1

--- owe
turn = turn + 1

--- refund
if police == '1' or (mine == turn and charged == since) then
  used = math.max(0, used - less * period)
end

--- save
text = format('%d:%d:%d:%d', since, used, tick, turn)
