-- The token bucket, over what the buckets share.

local function fit(t, s, at, n)
  return wait(t, drained(t, s, at), n), 0
end

local function charge(t, s, at, n)
  add(t, s, at, n)
  return 0
end

local function refund(t, s, _, n)
  take(t, s, n)
end

return {
  load = load,
  save = save,
  since = since,
  fit = fit,
  charge = charge,
  owe = fill,
  refund = refund,
  report = report,
  forget = forget,
}
