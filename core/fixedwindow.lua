-- The fixed window. A state is written window:count.

local function load(_, value)
  local window, count = match(value, '^(%d+):(%d+)$')
  window, count = whole(window), whole(count)
  if not (window and count) then
    return { window = 0, count = 0 }
  end
  return { window = window, count = count }
end

local function save(_, s)
  return format('%.0f:%.0f', s.window, s.count)
end

local function since(t, s)
  if s.count == 0 then
    return 0, 0
  end
  return s.window * t.period, t.period
end

local function count(t, s, at)
  if s.window ~= div(at, t.period) then
    return 0
  end
  return s.count
end

local function fit(t, s, at, n)
  if count(t, s, at) + n <= t.count then
    return 0, 0
  end
  return t.period - fmod(at, t.period), 0
end

local function charge(t, s, at, n)
  s.window, s.count = div(at, t.period), count(t, s, at) + n
  return 0
end

local function owe(t, s, at, n)
  charge(t, s, at, min(n, max(0, 2 * t.count - count(t, s, at))))
end

local function refund(t, s, _, n, charged)
  s.count = s.count - min(n, count(t, s, charged))
end

local function report(t, s, at)
  local counted = count(t, s, at)
  if counted == 0 then
    return t.count, 0
  end
  return max(0, t.count - counted), t.period - fmod(at, t.period)
end

local function forget(s)
  s.window, s.count = 0, 0
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
