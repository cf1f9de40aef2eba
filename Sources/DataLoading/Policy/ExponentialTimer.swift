// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Pauses that grow by a factor, up to a maximum, with chance in them.
///
/// Without chance, everybody who failed together would come back together. Good initial times are
/// half a second or a second; an initial time of zero stays zero for ever.
///
/// ```swift
/// var timer = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
/// let first = timer.timeIntervalAndCalculateNext()  // 1 s
/// let second = timer.timeIntervalAndCalculateNext()  // about 2.7 s
/// ```
public struct ExponentialTimer: Hashable, Sendable {
    /// How chance changes a pause.
    public enum Jitter: Hashable, Sendable {
        /// Not at all.
        case none
        /// Normally distributed around it; the deviation is this fraction of it.
        ///
        /// Growth goes on from the pause as it was drawn, so that timers drift apart.
        case normal(Double)
        /// Evenly distributed between zero and it.
        case full
    }

    /// The deviation of the default jitter, 0.11304999836 of the pause: SPTDataLoader's.
    public static let defaultJitter = 0.11304999836
    /// The growth that a timer has unless told otherwise: e, SPTDataLoader's.
    public static let defaultGrowth = 2.718281828459045

    private static let smallestJitter = 0.0001

    /// The first pause.
    public let initialTime: Duration
    /// The longest pause.
    public let maxTime: Duration
    /// How chance changes a pause.
    public let jitter: Jitter
    /// The factor from one pause to the next.
    public let growth: Double

    /// The present pause; the initial time until `calculateNext` is called.
    public private(set) var timeInterval: Duration

    private var center: Duration

    /// Makes a timer that stands at its initial time.
    ///
    /// - Parameters:
    ///   - initialTime: The first pause; from zero to `maxTime`, else the nearer of them.
    ///   - maxTime: The longest pause; below zero counts as zero.
    ///   - jitter: How chance changes a pause; by default normal with `defaultJitter`.
    ///   - growth: The factor from one pause to the next; below one, or no number, counts as one.
    public init(
        initialTime: Duration, maxTime: Duration, jitter: Jitter = .normal(defaultJitter),
        growth: Double = defaultGrowth
    ) {
        self.maxTime = max(.zero, maxTime)
        self.initialTime = min(max(.zero, initialTime), self.maxTime)
        self.jitter = jitter
        self.growth = growth >= 1 ? growth : 1
        timeInterval = self.initialTime
        center = self.initialTime
    }

    /// Goes on to the next pause and returns it.
    @discardableResult
    public mutating func calculateNext() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return calculateNext(using: &generator)
    }

    /// Goes on to the next pause and returns it; chance comes from `generator`.
    @discardableResult
    public mutating func calculateNext(
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        center = clamped(seconds: center.inSeconds * growth)
        timeInterval = draw(around: center, using: &generator)
        if case .normal = jitter { center = timeInterval }
        return timeInterval
    }

    /// Returns the present pause and goes on to the next.
    public mutating func timeIntervalAndCalculateNext() -> Duration {
        defer { calculateNext() }
        return timeInterval
    }

    /// Returns the present pause and goes on to the next; chance comes from `generator`.
    public mutating func timeIntervalAndCalculateNext(
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        defer { calculateNext(using: &generator) }
        return timeInterval
    }

    /// Goes back to the initial time.
    public mutating func reset() {
        timeInterval = initialTime
        center = initialTime
    }

    /// A pause before retry `n`, from 1, drawn around min(maxTime, initialTime · growth^(n−1)).
    ///
    /// For those who know how many pauses there were and keep no timer. The first has jitter too.
    package func pause(
        beforeRetry n: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        guard initialTime > .zero else { return .zero }
        let factor = pow(growth, Double(max(1, n) - 1))
        return draw(around: clamped(seconds: initialTime.inSeconds * factor), using: &generator)
    }

    private func draw(
        around center: Duration, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        switch jitter {
        case .none:
            return center
        case .full:
            return clamped(
                seconds: center.inSeconds * Double.random(in: 0..<1, using: &generator))
        case .normal(let deviation):
            guard deviation >= Self.smallestJitter else { return center }
            // Box and Muller, 1958.
            let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &generator))).squareRoot()
            let angle = 2 * Double.pi * Double.random(in: 0..<1, using: &generator)
            return clamped(seconds: center.inSeconds * (1 + deviation * radius * cos(angle)))
        }
    }

    private func clamped(seconds: Double) -> Duration {
        min(maxTime, max(.zero, .saturating(seconds: seconds)))
    }
}
