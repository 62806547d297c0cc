-- What is done for one ask: it reads the state at key, decides, and leaves in texts[i]
-- and lives[i] what is to be written, false for nothing. It stands in script.lua once for
-- each algorithm; a line "-- room: name" is there the statements under that name of the
-- algorithm's room, if it has any. They read the terms, and what the state has kept in
-- since (its time, 0 or less if it counts nothing) and in names of their own.

local value, expires, from, till = '', 0, nil, nil
-- room: ready
-- room: read

local at, ahead, forgotten, blocked = now, 0, false, 0
if since > now then -- the clock has stepped back: the state's time decides, or it is as if never seen
  local life
  -- room: life
  if since - now > life then
    forgotten = true
    -- room: forget
  else
    at, ahead = since, since - now
  end
end
if till then
  from, till = from + 0, till + 0
  if from > exact or till > exact then
    till = nil
  elseif math.floor(from / tick) <= now then -- else it was made before the clock stepped back
    blocked = math.max(0, math.ceil(till / tick) - now)
  end
end

local never, retry, delay = cost > capacity or capacity == 0, 0, 0
if capacity > 0 then
  -- room: level
end
if not never then
  if cost > 0 then
    -- room: fit
    if retry > 0 then
      retry = retry + ahead
    end
    if delay > 0 then
      delay = delay + ahead
      if longest >= 0 and delay > math.floor(longest / tick) then
        retry = math.max(retry, delay - math.floor(longest / tick))
      end
    end
  end
  if retry < blocked then
    retry = blocked
  end
end
if (retry > 0 or never) and dryRun == 0 then
  admitted = false
end

local acts, write = true, false
texts[i] = false
-- room: wait
if acts then
  local outcome = 3 -- of a take
  if takes then
    if never then
      outcome = 2
    elseif retry > 0 then
      outcome = 0
      if blocked > 0 then
        outcome = 5
      end
    elseif admitted and cost > 0 then
      outcome, write = 1, true
      -- room: charge
    end
  elseif verb == 2 then
    write = true
    local more, less = actual - units, units - actual
    if more > 0 then
      -- room: owe
    elseif forgotten then
      write = false
    else
      local charged = math.floor(charged / tick)
      -- room: refund
    end
    -- room: level
  else
    write, from, till, blocked = true, us, nil, 0
    if units > 0 then
      till = us + units
    end
  end

  local remaining, reset = 0, 0
  if capacity > 0 then
    -- room: report
  end
  if reset > 0 then
    reset = reset + ahead
  end
  local life = reset * tick
  if blocked > 0 then
    remaining, reset = 0, math.max(reset, blocked)
  end

  -- A state leaves once its reset has passed, or after a minute at least where the time
  -- was passed in. What counts nothing is deleted. A block stays, also one that begins
  -- after now: the clock may come back. Its key stays as long, its state does not.
  if write then
    if verb == 3 then
      -- It may have been charged under a larger limit than it is blocked by.
      -- room: keep
    end
    if life < leastLife then
      life = leastLife
    end
    local leaves = 0 -- a millisecond of the server's clock
    if life > 0 then
      leaves = (real + life) / 1000
      leaves = leaves + -leaves % 1
    end
    local stays = leaves
    if till then
      local rest = math.ceil(till / tick) * tick - us
      if rest > 0 or leastLife > 0 then
        stays = math.max(leaves, math.ceil((real + rest) / 1000))
      else
        till = nil
      end
    end
    -- room: write
  end

  if outcome == 1 then
    reply[answers] = pack('<dddddd', 1, remaining, delay * tick, reset * tick, at * tick, turn)
  elseif takes then
    reply[answers] = pack('<dddddd', outcome, remaining, retry * tick, reset * tick, 0, 0)
  else
    reply[answers] = pack('<d', 1)
  end
end
