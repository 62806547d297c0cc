-- Every decision, in one run of one script: evaluate all that is asked, then charge all
-- of it or none. It decides exactly as the Go code beside it, under the same names;
-- what is in one only is the reading and writing of keys.
--
-- Units: times are whole microseconds in ARGV and in the reply, ticks inside (a tick is
-- 1, 1e3 or 1e6 of them). Every number is whole and at most 2^53, which doubles hold
-- exactly; floor(a / b) and ceil(a / b) of such are exact as well, since the quotient is
-- never rounded across a whole number: its distance from one is at least 1 / b, and half
-- of its last place is less.
-- Clock: the server's TIME, read once, unless a test passes the time in.
-- KEYS: one for each ask, in order. A state is one key.
-- ARGV: the verb (take, weigh, adjust, block or reset); the time, '' for the server's; the
-- number of terms, and for each one text of eight numbers with spaces between: the
-- algorithm by its number in Go, count, capacity, tick, period in ticks, intervals, 1 if
-- it polices, 1 if it is a dry run. Then come runs of decisions that differ in their keys
-- only: the number of decisions, the number of asks in each, and for each ask the index of
-- its terms, from 1, and
--   take:   cost, longest wait (-1: any)
--   weigh:  the same: it is a take that charges nothing
--   adjust: units charged, units it should have been, time of the charge, turn
--   block:  length (0 lifts the block)
--   reset:  nothing
-- Reply: a flat array of integers. take and weigh give six for each ask: 0 refused, 1
-- charged, 2 never, 3 allowed without a charge or 5 refused and blocked; remaining; the wait of a refused one or the delay
-- of a charged one; reset after; time of the charge; turn. The other verbs give a 1 for
-- each decision. A decision that failed among several gives a 4, a length and so many
-- bytes of its error instead; a lone one fails the call.
--
-- A script starts from its first line every time, and a function or a table costs more to
-- make than what it would compute. So there is one loop, and the rooms are statements in
-- it: a line "-- room: name" stands for the statements under that name of the room whose
-- algorithm it is. They read the terms, and what the state has kept in since (its time,
-- 0 if it counts nothing) and in names of their own.

-- A text of digits becomes a number by + 0, which reads it once; tonumber reads it twice.

local verb, us, leastLife = ARGV[1], ARGV[2], 60000
if us == '' then
  local time = redis.call('TIME')
  us, leastLife = time[1] * 1000000 + time[2], 0
else
  us = us + 0
end

local takes, width = verb == 'take' or verb == 'weigh', 2 -- the arguments of an ask behind the index of its terms
if not takes then
  width = verb == 'adjust' and 4 or 1
end

local several = ARGV[3] ~= '1' and {} -- terms that were read
local argument, first, left, n, keys = 4 + ARGV[3], 0, 0, 0, 0
local reply, words, start = { 0, 0, 0, 0, 0, 0 }, 0, 0 -- a table that grows is slow

-- run decides all that is left. It begins again behind a decision that fails.
local function run()
  local KEYS, ARGV, call, floor, ceil = KEYS, ARGV, redis.call, math.floor, math.ceil
  local match, format, byte, exact = string.match, string.format, string.byte, 9007199254740992
  local ready, texts = 0, nil -- the argument whose ask is in the locals; what is kept between two passes
  local algorithm, count, capacity, tick, period, intervals, police, dryRun, interval
  local cost, longest, now = 0, -1, us
  local lastLife, lifeText
  local since, used, level, turn, window, counted, newest, counts, k, part, len, oldest, found, marked, gone

  while left > 0 or argument <= #ARGV do
    if left == 0 then
      left, n, first = ARGV[argument] + 0, ARGV[argument + 1] + 0, argument + 2
      argument = first + n * (1 + width)
    end
    local admitted, pass = verb == 'take', 2
    texts = nil
    if n > 1 then
      pass, texts = 1, {} -- several are all evaluated before the first one is charged
    end
    start, left = words, left - 1

    while pass <= 2 do
      for i = 1, n do
        local key, ask = KEYS[keys + i], first + (i - 1) * (1 + width)

        if ask ~= ready then
          local index = ARGV[ask]
          local t = several and several[index]
          if t then
            algorithm, count, capacity, tick, period, intervals, police, dryRun = t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]
          else
            algorithm, count, capacity, tick, period, intervals, police, dryRun =
              match(ARGV[3 + index], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d) (%d)$')
            count, capacity, tick, period, intervals = count + 0, capacity + 0, tick + 0, period + 0, intervals + 0
            if several then
              several[index] = { algorithm, count, capacity, tick, period, intervals, police, dryRun }
            end
          end
          interval, now = floor(period / intervals), us
          if tick > 1 then
            now = floor(us / tick)
          end
          if takes then
            cost, longest = ARGV[ask + 1] + 0, ARGV[ask + 2] + 0
          end
          ready = ask
        end

        -- A block stands before the state, B<from>:<till>;<state>; the log has a way of
        -- its own. What is no state of ours is as if never seen.
        local value, from, till = '', nil, nil
        -- room: forget
        if algorithm == '2' then
          -- room: open
        else
          if texts and pass == 2 then
            value = texts[i]
          else
            value = call('GET', key) or ''
          end
          if texts then
            texts[i] = value
          end
          if byte(value) == 66 then
            from, till, value = match(value, '^B(%d+):(%d+);(.*)$')
            value = value or ''
          end
          -- room: load
        end

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
          elseif floor(from / tick) <= now then -- else it was made before the clock stepped back
            blocked = math.max(0, ceil(till / tick) - now)
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
              if longest >= 0 and delay > floor(longest / tick) then
                retry = math.max(retry, delay - floor(longest / tick))
              end
            end
          end
          if retry < blocked then
            retry = blocked
          end
        end

        if pass == 1 then
          if (retry > 0 or never) and dryRun == '0' then
            admitted = false
          end
        else
          -- outcome is that of a take, text what a block leaves as it is.
          local outcome, write, text = 3, true, nil
          if takes then
            if never then
              outcome, write = 2, false
            elseif retry > 0 then
              outcome, write = 0, false
              if blocked > 0 then
                outcome = 5
              end
            elseif admitted and cost > 0 then
              outcome = 1
              -- room: charge
            else
              write = false
            end
          elseif verb == 'adjust' then
            local more = ARGV[ask + 2] - ARGV[ask + 1]
            if more > 0 then
              -- room: owe
            elseif forgotten then
              write = false
            else
              local less, charged, mine = -more, floor(ARGV[ask + 3] / tick), ARGV[ask + 4] + 0
              -- room: refund
            end
            -- room: level
          else
            local length = ARGV[ask + 1] + 0
            from, till, blocked, text = us, nil, 0, value
            if length > 0 then
              till = us + length
            end
          end

          local remaining, reset = 0, 0
          if capacity > 0 then
            -- room: report
          end
          if reset > 0 then
            reset = reset + ahead
          end
          if blocked > 0 then
            remaining, reset = 0, math.max(reset, blocked)
          end

          -- A state leaves once its reset has passed, or after a minute at least where the
          -- time was passed in. What counts nothing is deleted. A block stays, also one
          -- that begins after now: the clock may come back.
          if write then
            local block, life = '', ceil(reset * tick / 1000)
            if text and not (text == '' and algorithm ~= '2' and not till) then
              -- It may have been charged under a larger limit than it is blocked by.
              life = math.max(life, call('PTTL', key))
            end
            if till then
              local rest = ceil((ceil(till / tick) * tick - us) / 1000)
              if rest > 0 or leastLife > 0 then
                block, life = format('B%d:%d;', from, till), math.max(life, rest)
              end
            end
            if life < leastLife then
              life = leastLife
            end
            if life == 0 then
              call('DEL', key)
            elseif algorithm == '2' then
              -- room: close
            else
              if not text then
                -- room: save
              end
              if block ~= '' then
                text = block .. text
              end
              if life ~= lastLife then -- a number becomes a text in every call, and lives are often equal
                lastLife, lifeText = life, format('%d', life)
              end
              call('SET', key, text, 'PX', lifeText)
            end
          end

          if takes then
            reply[words + 1], reply[words + 2], reply[words + 4] = outcome, remaining, reset * tick
            reply[words + 3], reply[words + 5], reply[words + 6] = retry * tick, 0, 0
            if outcome == 1 then
              reply[words + 3], reply[words + 5], reply[words + 6] = delay * tick, at * tick, turn
            end
            words = words + 6
          end
        end
      end
      pass = pass + 1
    end

    keys = keys + n
    if not takes then
      words = words + 1
      reply[words], reply[words + 1] = 1, nil
    end
  end
end

if verb == 'reset' then
  for i = 1, #KEYS do
    redis.call('DEL', KEYS[i])
  end
  return { 1 }
end
if #KEYS == ARGV[argument + 1] + 0 then -- one decision
  run()
  return reply
end
while true do
  local fine, failure = pcall(run)
  if fine then
    reply[words + 1] = nil
    return reply
  end
  local text = type(failure) == 'table' and failure.err or tostring(failure)
  if string.match(text, '^%-?READONLY') or string.match(text, '^%-?OOM') or string.match(text, '^%-?MISCONF') then
    return redis.error_reply(text) -- the server takes no writes: nothing was charged
  end
  text = string.sub(text, 1, 200)
  reply[start + 1], reply[start + 2] = 4, #text
  for i = 1, #text do
    reply[start + 2 + i] = string.byte(text, i)
  end
  words, keys = start + 2 + #text, keys + n
end
