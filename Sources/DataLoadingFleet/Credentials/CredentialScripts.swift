// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The scripts of a store of credentials. `KEYS`: the credentials, the lock, the count of locks.
extension RedisScript {
    /// Takes the lock for a minute; returns its number, or 0 while another owner has it.
    ///
    /// `ARGV`: the owner.
    static let takeLock = RedisScript(
        """
        if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', 60000) then
            return redis.call('INCR', KEYS[3])
        end
        return 0
        """, digest: "c0ec88865ae7bb2f9ce5a40275c24523c548d1b1")

    /// Keeps the lock for another minute; 0 if it is not the owner's any more.
    ///
    /// `ARGV`: the owner.
    static let renewLock = RedisScript(
        """
        if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[2], 60000)
        """, digest: "48046d7c719850118ef855ee04ae28c5ef9871ea")

    /// Lets the lock go, if it is the owner's.
    ///
    /// `ARGV`: the owner.
    static let releaseLock = RedisScript(
        """
        if redis.call('GET', KEYS[2]) == ARGV[1] then return redis.call('DEL', KEYS[2]) end
        return 0
        """, digest: "d8784a086bb204c45f5b7a0bd5e4ee0ba9443a1f")

    /// Writes credentials, or deletes them where there is none; 0 if the holder of a later lock has
    /// written since.
    ///
    /// `ARGV`: the number of the lock, the credentials. That the lock may have gone to another owner
    /// meanwhile is no reason to lose them: the server knows only the newest refresh token.
    static let saveCredentials = RedisScript(
        """
        local fence = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
        if tonumber(ARGV[1]) < fence then return 0 end
        redis.call('HSET', KEYS[1], 'fence', ARGV[1])
        if ARGV[2] then
            redis.call('HSET', KEYS[1], 'value', ARGV[2])
        else
            redis.call('HDEL', KEYS[1], 'value')
        end
        return 1
        """, digest: "aa0bd077e1512c937feac0a44ab9dd77b915577b")
}
