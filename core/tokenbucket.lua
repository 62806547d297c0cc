-- The token bucket, over what the buckets share.

--- refund
used = math.max(0, used - less * period)

--- save
if tick == 1 then
  text = format('%d:%d', since, used)
else
  text = format('%d:%d:%d', since, used, tick)
end
