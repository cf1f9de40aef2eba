// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The scripts that a fleet runs in its server. Each is one change that nothing comes between.
///
/// Times are microseconds of the server's own clock, which no daemon sees. Lua would write a number with
/// 14 digits where it is made a text, which is not enough for them: they are formatted with 17.
extension RedisScript {
    /// Leases slots of a line.
    ///
    /// `KEYS`: the line, those who ask. `ARGV`: the daemon, the interval, the burst, the number wanted,
    /// the longest wait or -1, the window, how far the daemon knows the line to be leased, how many
    /// daemons there are, and the server's time when it asked, as far as it knows, or 0. It returns when
    /// the first slot starts, the number of slots, how long the key is closed yet, and how far the line
    /// is leased now.
    static let lease = RedisScript(
        "lease",
        """
        local line, askers, member = KEYS[1], KEYS[2], ARGV[1]
        local interval, burst, want = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
        local patience, window = tonumber(ARGV[5]), tonumber(ARGV[6])
        local lead, members = tonumber(ARGV[7]), tonumber(ARGV[8])
        local asked = tonumber(ARGV[9])
        local clock = redis.call('TIME')
        local now = clock[1] * 1000000 + clock[2]
        local state = redis.call('HMGET', line, 'reach', 'gate', 'seen')
        local reach, gate = tonumber(state[1] or '0'), tonumber(state[2] or '0')
        local seen = tonumber(state[3] or '0')
        -- A clock that was set back takes all instants with it. That it was set forward only who asks
        -- can tell, and the first who does so tells it to the line.
        local back = math.max(0, seen - now)
        if back > 0 then
            redis.call('ZREMRANGEBYSCORE', askers, string.format('(%.17g', now), '+inf')
        elseif asked > 0 and now - asked > 500000 and seen <= asked then
            back = asked - now
        end
        if back ~= 0 then reach, gate = reach - back, gate - back end
        if gate <= now then gate = 0 end
        if want > 0 then redis.call('ZADD', askers, string.format('%.17g', now), member) end
        local all = redis.call('ZCARD', askers)
        local old = string.format('%.17g', now - math.max(2000000, 3 * all * interval))
        local count = math.max(1, all - redis.call('ZREMRANGEBYSCORE', askers, '-inf', old))
        -- Who lost a line has lost those who ask for it too; so has a clock that was set forward.
        local crowd = state[1] and back >= 0 and count or math.max(count, members)
        local slack = (burst - 1) * interval
        -- What a daemon remembers restores the line, and cannot park it far away. The line itself is
        -- longer while many become busy at once, the n-th of whom gets an n-th of the window. While the
        -- key is closed it begins where the key opens.
        local first = math.max(now, gate) + slack
        local far = first + 2 * math.max(window, crowd * interval)
        -- What such a clock has made expire may have been leased so far.
        if back < 0 and not state[1] then reach = far end
        local farthest = far + interval
        reach = math.max(reach, math.min(now + lead, farthest))
        reach = math.min(reach, first + 2 * crowd * interval + 4 * window + interval)
        local due = math.max(reach, now, gate + slack)
        local start, granted = due - slack, 0
        if want > 0 and (patience < 0 or start - now <= patience) then
            local full = start <= now and math.floor((now - start) / interval) + 1 or 0
            granted = math.min(want, math.max(1, math.floor(window / (interval * count)), full))
            reach = due + granted * interval
        end
        redis.call('HSET', line, 'reach', string.format('%.17g', reach),
            'gate', string.format('%.17g', gate), 'seen', string.format('%.17g', now))
        local rest = math.ceil((math.max(reach, gate, now) - now) / 1000) + 60000
        redis.call('PEXPIRE', line, rest)
        redis.call('PEXPIRE', askers, rest)
        return { start - now, granted, math.max(0, gate - now), reach - now }
        """, digest: "745108a2803b0e15b7f2fa207a717a852c7b7c19")

    /// Closes a line for all daemons, unless it is closed for longer.
    ///
    /// `KEYS`: the line, those who ask. `ARGV`: how long, and the server's time when it was asked, as far
    /// as the daemon knows it, or 0. It returns -1 where a server that was suspended runs what it
    /// was sent before: the key would be closed for as much longer.
    static let closeLine = RedisScript(
        "closeLine",
        """
        local clock = redis.call('TIME')
        local now = clock[1] * 1000000 + clock[2]
        local asked = tonumber(ARGV[2])
        if asked > 0 and now - asked > 500000 then return -1 end
        local state = redis.call('HMGET', KEYS[1], 'reach', 'gate', 'seen')
        local back = math.max(0, tonumber(state[3] or '0') - now)
        if back > 0 then
            redis.call('ZREMRANGEBYSCORE', KEYS[2], string.format('(%.17g', now), '+inf')
            if state[1] then
                redis.call('HSET', KEYS[1], 'reach', string.format('%.17g', state[1] - back))
            end
        end
        local gate = math.max(tonumber(state[2] or '0') - back, now + ARGV[1])
        redis.call('HSET', KEYS[1], 'gate', string.format('%.17g', gate), 'seen', string.format('%.17g', now))
        local rest = math.ceil((gate - now) / 1000) + 60000
        if redis.call('PTTL', KEYS[1]) < rest then redis.call('PEXPIRE', KEYS[1], rest) end
        return 1
        """, digest: "3d8c89c53c32af3113daf07ee57ffc955344c2f6")

    /// Tells the daemons of a closed key that have no line for it, at most 128 keys.
    ///
    /// `KEYS`: the gates. `ARGV`: the key, how long, and the time as for a line. It returns -1 for the same
    /// reason.
    static let closeGate = RedisScript(
        "closeGate",
        """
        local clock = redis.call('TIME')
        local now = clock[1] * 1000000 + clock[2]
        local asked = tonumber(ARGV[3])
        if asked > 0 and now - asked > 500000 then return -1 end
        local old = redis.call('HGET', KEYS[1], ARGV[1])
        if not old and redis.call('HLEN', KEYS[1]) >= 128 then return 0 end
        local gate = math.max(tonumber(old or '0'), now + ARGV[2])
        redis.call('HSET', KEYS[1], ARGV[1], string.format('%.17g', gate))
        local rest = math.ceil((gate - now) / 1000)
        if redis.call('PTTL', KEYS[1]) < rest then redis.call('PEXPIRE', KEYS[1], rest) end
        return 1
        """, digest: "1c72e95a9f43171e7fb62ba9197619a0e386eb3e")

    /// Notes that a daemon lives, and counts the others.
    ///
    /// `KEYS`: the daemons, the goodbyes, the gates. `ARGV`: the daemon, and the server's time when it
    /// asked, as far as it knows, or 0. A server that was suspended runs what it was sent before,
    /// which says nothing of who is there now. It returns how many sent a heartbeat within 1.75 s
    /// and 30 s, the number of goodbyes, each gate with how long it is closed, the server's time,
    /// and whether the daemon was not known.
    static let heartbeat = RedisScript(
        "heartbeat",
        """
        local clock = redis.call('TIME')
        local now = clock[1] * 1000000 + clock[2]
        local asked = tonumber(ARGV[2])
        local all = redis.call('HGETALL', KEYS[3])
        -- A clock that was set back takes all instants with it.
        local newest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
        local back = newest and newest - now or 0
        if back > 0 then
            local known = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
            for place = 1, #known, 2 do
                redis.call('ZADD', KEYS[1], string.format('%.17g', known[place + 1] - back), known[place])
            end
            for place = 1, #all, 2 do
                all[place + 1] = string.format('%.17g', all[place + 1] - back)
                redis.call('HSET', KEYS[3], all[place], all[place + 1])
            end
        end
        local new = 0
        if asked == 0 or now - asked < 500000 then
            new = redis.call('ZADD', KEYS[1], string.format('%.17g', now), ARGV[1])
        end
        redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.17g', now - 30000000))
        redis.call('PEXPIRE', KEYS[1], 60000)
        local present = redis.call('ZCOUNT', KEYS[1], string.format('%.17g', now - 1750000), '+inf')
        local left = tonumber(redis.call('GET', KEYS[2]) or '0')
        local gates, open = {}, {}
        for place = 1, #all, 2 do
            local rest = tonumber(all[place + 1]) - now
            if rest <= 0 then
                open[#open + 1] = all[place]
            elseif #gates < 256 then
                gates[#gates + 1] = all[place]
                gates[#gates + 1] = rest
            end
        end
        if #open > 0 then redis.call('HDEL', KEYS[3], unpack(open)) end
        return { present, redis.call('ZCARD', KEYS[1]), left, gates, now, new }
        """, digest: "7cc6a3bfce70c18212252ab935584f2983dd897e")

    /// Removes a daemon that ends.
    ///
    /// `KEYS`: the daemons, the goodbyes. `ARGV`: the daemon.
    static let goodbye = RedisScript(
        "goodbye",
        """
        if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then
            redis.call('INCR', KEYS[2])
            redis.call('PEXPIRE', KEYS[2], 120000)
        end
        return 1
        """, digest: "e98fa521187ee38202ca9d032e8d4f5045bd6b3f")
}
