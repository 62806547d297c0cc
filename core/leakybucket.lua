-- The leaky bucket, over what the buckets share. It numbers its turns.

local function fit(t, s, at, n)
  local level = drained(t, s, at)
  if t.police then
    return wait(t, level, n), 0
  end
  return wait(t, level, n), ceilDiv(level, t.count)
end

local function charge(t, s, at, n)
  add(t, s, at, n)
  s.turn = s.turn + 1
  return s.turn
end

local function owe(t, s, at, n)
  fill(t, s, at, n)
  s.turn = s.turn + 1
end

local function refund(t, s, _, n, charged, turn)
  if t.police or (turn == s.turn and charged == s.since) then
    take(t, s, n)
  end
end

return {
  load = load,
  save = save,
  since = since,
  fit = fit,
  charge = charge,
  owe = owe,
  refund = refund,
  report = report,
  forget = forget,
}
