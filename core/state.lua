-- What the four share whose state is one text: numbers of 8 bytes if nothing else is said.
-- The first is the millisecond at which the key leaves, but for a block; 0 where only a
-- block is kept. Then come the room's own, width bytes together, and behind them the block
-- if there is one, B<from>:<till>;. What is no state of ours is as if never seen.

--- read
value = call('GET', key) or ''
if #value >= width then
  -- room: load
  if not (expires >= 0 and expires <= exact) then
    expires = 0
  end
  if #value > width then
    from, till = string.match(value, '^B(%d+):(%d+);$', width + 1)
  end
else
  -- room: forget
end

--- keep
life = math.max(life, expires * 1000 - real)

--- write: a state that stays as long as it is does not set its expiry again, which costs
-- more than all else; one that does takes half as much again, so that few do
if stays == 0 then
  texts[i], lives[i] = '', 0
else
  if leaves <= expires and #value == width and not till then
    leaves, lives[i] = expires, false
  else
    if takes and expires > 0 then
      leaves = leaves + math.floor((leaves - real / 1000) / 2)
    end
    lives[i] = math.max(leaves, stays)
  end
  local text
  if verb ~= 3 then
    -- room: save
  elseif expires > 0 then -- a block leaves the state as it is
    text = pack('<d', leaves) .. string.sub(value, 9, width)
  else
    text = string.rep('\0', width)
  end
  if till then
    text = text .. string.format('B%d:%d;', from, till)
  end
  texts[i] = text
end
