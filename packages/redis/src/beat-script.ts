/** A reply has for each state and each of the news: the kind, the member, the age or the number, and the text. */
export const FIELDS = 4;
/** The kind of a state. That of news is `n`. */
export const STATE = 's';

/**
 * Writes what a member reports, then reads what it has not seen, in one step.
 *
 * All is in one hash, so that a cluster has it on one server. The names of its fields are `s member`, and
 * `n member number time`: the time says which news are old without reading them. A time that is far ahead was written
 * before the clock of the server was set back. What another program has written instead is deleted, or every beat would
 * fail because of it.
 */
export const BEAT = `
local key, member, number, state, news = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local seen = cjson.decode(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function recent(at) return now - at < 10000 and at - now < 10000 end

local own = redis.call('HGET', key, 's ' .. member)
local last = own and tonumber(string.match(own, '^%d+ (%d+) ')) or 0
if number > last then
  redis.call('HSET', key, 's ' .. member, string.format('%d %d %s', now, number, state))
  if news ~= '' then
    redis.call('HSET', key, string.format('n %s %d %d', member, number, now), news)
  end
  redis.call('PEXPIRE', key, 60000)
end

local reply = {}
for _, field in ipairs(redis.call('HKEYS', key)) do
  local kind, id, rest = string.match(field, '^(%a) (%S+) ?(.*)$')
  if kind == 's' then
    local at, text = string.match(redis.call('HGET', key, field), '^(%d+) %d+ (.*)$')
    at = tonumber(at)
    if at and recent(at) then
      local age = string.format('%d', math.max(0, now - at))
      for _, value in ipairs({ kind, id, age, text }) do table.insert(reply, value) end
    else
      redis.call('HDEL', key, field)
    end
  elseif kind == 'n' then
    local of, at = string.match(rest, '^(%d+) (%d+)$')
    if not at or not recent(tonumber(at)) then
      redis.call('HDEL', key, field)
    elseif id ~= member and tonumber(of) > (tonumber(seen[id]) or 0) then
      for _, value in ipairs({ kind, id, of, redis.call('HGET', key, field) }) do table.insert(reply, value) end
    end
  end
end
return reply
`;
