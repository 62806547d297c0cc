-- The verbs, the end of script.lua. Only the one that is called is built. Each decides
-- asks, of whose arguments there are width after the index of the terms, and gives the
-- words of the reply.
local decide, width

if ARGV[1] == 'take' then
  width = 2

  local function meet(a)
    local t, longest = a.t, tonumber(ARGV[a.first + 1])
    open(a)
    if longest > 0 then
      longest = div(longest, t.tick)
    end
    a.cost = tonumber(ARGV[a.first])
    a.at, a.ahead, a.forgotten, a.retry, a.delay, a.never = evaluate(t, a.s, a.now, a.cost, longest, a.blockedFor)
    a.allowed = a.retry == 0 and not a.never
    return a.allowed or t.dryRun
  end

  -- answer gives the words of an ask that was refused, or is not to be charged.
  local function answer(a)
    local remaining, reset = report(a)
    local outcome = a.never and 2 or a.allowed and 1 or 0
    return outcome, remaining, a.retry * a.t.tick, reset * a.t.tick, 0, 0, 0, 0
  end

  local function charge(a)
    local t = a.t
    local turn = t.room.charge(t, writable(a), a.at, a.cost)
    local remaining, reset = report(a)
    close(a, reset)
    return 1, remaining, 0, reset * t.tick, a.delay * t.tick, a.cost, a.at * t.tick, turn
  end

  decide = function(asks)
    local admitted, reply = true, nil
    for i = 1, #asks do
      admitted = meet(asks[i]) and admitted
    end
    for i = 1, #asks do
      local a, words = asks[i], nil
      if admitted and a.allowed and a.cost > 0 then
        words = { charge(a) }
      else
        words = { answer(a) }
      end
      reply = append(reply, words)
    end
    return reply
  end
elseif ARGV[1] == 'adjust' then
  width = 4

  decide = function(asks)
    for i = 1, #asks do
      local a = asks[i]
      local t, more = a.t, tonumber(ARGV[a.first + 1]) - tonumber(ARGV[a.first])
      open(a)
      a.at, a.ahead, a.forgotten = evaluate(t, a.s, a.now, 0, -1, 0)
      if more > 0 then
        t.room.owe(t, writable(a), a.at, more)
      elseif not a.forgotten then
        t.room.refund(t, a.s, a.at, -more, div(tonumber(ARGV[a.first + 2]), t.tick), tonumber(ARGV[a.first + 3]))
      end
      if not a.forgotten then
        local _, reset = report(a)
        close(a, reset)
      end
    end
    return { 1 }
  end
elseif ARGV[1] == 'block' then
  width = 1

  -- The state's text and life stay as they are: it may have been charged under a larger
  -- limit than the terms that it is blocked by.
  decide = function(asks)
    for i = 1, #asks do
      local a = asks[i]
      local t, length = a.t, tonumber(ARGV[a.first])
      open(a)
      a.s.from, a.s.till, a.blockedFor = us, length > 0 and us + length, 0
      a.at, a.ahead, a.forgotten = evaluate(t, a.s, a.now, 0, -1, 0)
      local _, reset = report(a)
      local life = max(0, call('PTTL', a.key))
      if length == 0 and a.text == '' then
        life = 0
      end
      close(a, max(reset, ceilDiv(life * 1000, t.tick)), a.text)
    end
    return { 1 }
  end
else
  width = 0

  decide = function(asks)
    for i = 1, #asks do
      call('DEL', asks[i].key)
    end
    return { 1 }
  end
end

local rooms, terms, argument, keys = {}, {}, 4, 0

for i = 1, tonumber(ARGV[3]) do
  local algorithm = tonumber(ARGV[argument])
  rooms[algorithm] = rooms[algorithm] or roomOf(algorithm)
  terms[i] = {
    room = rooms[algorithm],
    count = tonumber(ARGV[argument + 1]),
    capacity = tonumber(ARGV[argument + 2]),
    tick = tonumber(ARGV[argument + 3]),
    period = tonumber(ARGV[argument + 4]),
    intervals = tonumber(ARGV[argument + 5]),
    interval = 0,
    police = ARGV[argument + 6] == '1',
    dryRun = ARGV[argument + 7] == '1',
  }
  argument = argument + 8
end

-- nextAsks are the asks of the next decision, with a place for all that is found out of
-- each: a table that grows is slow.
local function nextAsks()
  local asks, n = {}, tonumber(ARGV[argument])
  argument = argument + 1
  for i = 1, n do
    local t = terms[tonumber(ARGV[argument])]
    keys = keys + 1
    asks[i] = {
      t = t, key = KEYS[keys], first = argument + 1, cost = 0, now = div(us, t.tick),
      s = nil, text = nil, blockedFor = 0, at = 0, ahead = 0, forgotten = false,
      retry = 0, delay = 0, never = false, allowed = false,
    }
    argument = argument + 1 + width
  end
  return asks
end

local asks, reply = nextAsks(), nil
if argument > #ARGV then
  return decide(asks)
end
while asks do
  local fine, words = pcall(decide, asks)
  if not fine then
    words = { type(words) == 'table' and words.err or tostring(words) }
  end
  reply = append(reply, words)
  asks = argument <= #ARGV and nextAsks()
end
return reply
