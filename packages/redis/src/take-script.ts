import { Script } from './client.ts';

/** The reply of {@link TAKE}, in this order, as integers. */
export interface TakeReply {
  readonly taken: number;
  /** Microseconds until the next token is there; 0 if one is there now. */
  readonly waitUs: number;
  /** Whole tokens that are left. */
  readonly left: number;
  /** When the bucket will be full and not paused, in microseconds on the clock of the server. */
  readonly fullAtUs: number;
  /** The clock of the server. */
  readonly nowUs: number;
}

/** Reads the reply. */
export function replyOf(reply: unknown): TakeReply {
  const [taken = 0, waitUs = 0, left = 0, fullAtUs = 0, nowUs = 0] = (reply as unknown[]).map(Number);
  return { taken, waitUs, left, fullAtUs, nowUs };
}

/**
 * Takes tokens of one endpoint, in one step of the server.
 *
 * The arithmetic is that of `TokenLevel` in core: integers below 2⁵³. The key has: the time, the units in the bucket, the
 * amount, the units of a token and those of a full bucket, the process that passed them and until when they apply to others,
 * and the end of the pause. Times are microseconds of the server. A key that does not exist is a full bucket.
 *
 * - Processes may pass different limits, because each learns for itself. The lowest of the last five seconds applies to all.
 * - A server that was set back moves all times by the same step.
 * - What another program has written counts as an empty bucket, and so does a missing key that the caller knows not to be
 *   full yet: the server has lost its data. So a key lives until all callers know that it is full.
 * - Tokens that are returned let the bucket save others while they were away, so what arrived since is subtracted from them.
 */
export const TAKE: Script = new Script(`
local key, owner = KEYS[1], ARGV[1]
local amount, token, full = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local want, give, pause = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local known, is_emptied, since = tonumber(ARGV[8]), ARGV[9] == '1', tonumber(ARGV[10])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local at, units, lower, paused = now, full, nil, 0
local state = redis.pcall('GET', key)
if state then
  local fields = type(state) == 'string'
    and { string.match(state, '^1 (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%d+) (%d+)$') } or {}
  if #fields == 8 then
    at, units, paused = tonumber(fields[1]), tonumber(fields[2]), tonumber(fields[8])
    lower = {
      amount = tonumber(fields[3]), token = tonumber(fields[4]), full = tonumber(fields[5]),
      owner = fields[6], till = tonumber(fields[7]),
    }
    if at > now then
      local step = at - now
      at, paused, lower.till = now, math.max(0, paused - step), math.max(0, lower.till - step)
    end
  else
    redis.call('DEL', key)
    units = 0
  end
elseif known > now then
  units = 0
end

if lower then
  local missing = lower.full - units
  if now - at >= math.ceil(missing / lower.amount) then units = lower.full
  else units = units + (now - at) * lower.amount end
  if lower.owner ~= owner and lower.till > now and lower.amount / lower.token < amount / token then
    owner, amount, token, full = lower.owner, lower.amount, lower.token, lower.full
  else
    lower.till = now + 5000000
  end
  if token ~= lower.token then
    local whole = math.floor(units / lower.token)
    local rest = math.floor((units - whole * lower.token) / lower.token * token) - 1
    units = whole * token + math.max(0, rest)
  end
end
local till = lower and lower.till or now + 5000000

local back = give * token - amount * math.max(0, now - since)
if give > 0 and back > 0 then units = math.min(full, units + back) end
units = math.min(full, units)
if is_emptied then units = 0 end
if pause > 0 then paused = math.max(paused, now + pause) end

local taken = 0
if paused <= now then
  taken = math.max(0, math.min(want, math.floor(units / token)))
  units = units - taken * token
end
local wait = math.max(0, paused - now)
if units < token then wait = math.max(wait, math.ceil((token - units) / amount)) end

local full_at = math.max(paused, now + math.ceil((full - units) / amount))
local ttl = math.max(math.ceil((full_at - now) / 1000), state and redis.call('PTTL', key) or 0)
if ttl > 0 then
  local value = string.format('1 %.0f %.0f %.0f %.0f %.0f %s %.0f %.0f',
    now, units, amount, token, full, owner, till, paused)
  redis.call('SET', key, value, 'PX', string.format('%.0f', ttl))
end
return { taken, wait, math.floor(units / token), full_at, now }
`);
