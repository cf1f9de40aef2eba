// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The scripts of a store of credentials. `KEYS`: the credentials, the lock, the count of locks.
///
/// They call nothing that the access list of the documentation does not name.
extension RedisScript {
    /// Takes the lock, or keeps it if the owner has it already; returns its number, or 0 while another
    /// owner has it.
    ///
    /// `ARGV`: the owner, how long it lasts in milliseconds. The count expires an hour after the last
    /// lock; the credentials have the number that they were written under. Numbers begin with the time
    /// in microseconds, so that one is given once though the count is lost: no two locks are taken in
    /// the same one. An owner that takes it again keeps its number: a question that was believed lost may
    /// arrive when the holder is at work.
    static let takeLock = RedisScript(
        "takeLock",
        """
        local holder = redis.call('GET', KEYS[2])
        if holder and holder ~= ARGV[1] then return 0 end
        redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
        if holder then
            local own = tonumber(redis.call('GET', KEYS[3]) or '')
            if own then
                redis.call('PEXPIRE', KEYS[3], 3600000)
                return own
            end
        end
        local last = tonumber(redis.call('GET', KEYS[3]) or '') or 0
        local written = tonumber(redis.call('HMGET', KEYS[1], 'fence')[1] or '') or 0
        local clock = redis.call('TIME')
        local now = clock[1] * 1000000 + clock[2]
        local number = math.max(last, written, now) + 1
        redis.call('SET', KEYS[3], string.format('%.0f', number), 'PX', 3600000)
        return number
        """, digest: "3e8293f716dbee4b6d3dffe2846ce5d8c4647671")

    /// Keeps the lock for another life; 0 if it is not the owner's any more.
    ///
    /// `ARGV`: the owner, how long it lasts in milliseconds.
    static let renewLock = RedisScript(
        "renewLock",
        """
        if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
        redis.call('PEXPIRE', KEYS[3], 3600000)
        return redis.call('PEXPIRE', KEYS[2], ARGV[2])
        """, digest: "a1fc9cb8df53a64f228627d94c8616880136eb5d")

    /// Lets the lock go, if it is the owner's.
    ///
    /// `ARGV`: the owner.
    static let releaseLock = RedisScript(
        "releaseLock",
        """
        if redis.call('GET', KEYS[2]) == ARGV[1] then return redis.call('DEL', KEYS[2]) end
        return 0
        """, digest: "d8784a086bb204c45f5b7a0bd5e4ee0ba9443a1f")

    /// Writes credentials, or deletes them where none are given; 0 if a later lock was taken.
    ///
    /// `ARGV`: the number of the lock, the credentials. A lock that is gone and that no daemon has
    /// taken since is no reason to lose them: the authorization server knows only the newest
    /// refresh token.
    static let saveCredentials = RedisScript(
        "saveCredentials",
        """
        local number = tonumber(ARGV[1])
        local last = tonumber(redis.call('GET', KEYS[3]) or '')
        local written = tonumber(redis.call('HMGET', KEYS[1], 'fence')[1] or '') or 0
        if number < written or last and last ~= number then return 0 end
        redis.call('DEL', KEYS[1])
        redis.call('HSET', KEYS[1], 'fence', ARGV[1])
        if ARGV[2] then
            redis.call('HSET', KEYS[1], 'value', ARGV[2])
        else
            redis.call('PEXPIRE', KEYS[1], 3600000)
        end
        return 1
        """, digest: "9b1956c2fdafa5c1d27ec18f360c0fc817b3291d")
}
