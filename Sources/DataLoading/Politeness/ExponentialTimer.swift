// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Exponential back-off: pauses that grow by a factor up to a maximum, with jitter.
///
/// Jitter keeps clients that failed together from retrying together. Good initial times are half a
/// second or a second. An initial time of zero stays zero.
///
/// ```swift
/// var timer = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
/// let first = timer.timeIntervalAndCalculateNext()  // 1 s
/// let second = timer.timeIntervalAndCalculateNext()  // about 2.7 s
/// ```
public struct ExponentialTimer: Hashable, Sendable {
    /// The randomisation of a pause.
    public enum Jitter: Hashable, Sendable {
        /// No jitter.
        case none
        /// A normal distribution around the pause; its deviation is this fraction of the pause.
        ///
        /// The next pause grows from the drawn one, so that timers drift apart.
        case normal(Double)
        /// An even distribution between zero and the pause.
        case full
    }

    /// The deviation of the default jitter: 0.11304999836 of the pause, as in SPTDataLoader.
    public static let defaultJitter = 0.11304999836

    private static let smallestJitter = 0.0001

    /// A parameter of `init` that can be out of its range.
    enum Parameter: String, Sendable {
        case initialTime, maxTime, jitter, growth
    }

    /// The first parameter that was out of its range; nil without one.
    let malformedParameter: Parameter?

    let initialTime: Duration
    package let maxTime: Duration
    private let jitter: Jitter
    private let growth: Double

    /// The current pause; the initial time until `calculateNext` is called.
    public private(set) var timeInterval: Duration

    private var center: Duration

    /// Makes a timer at its initial time.
    ///
    /// A parameter out of its range makes the timer malformed: a service or a retry policy does not
    /// use it, but ends its loads with an error that names it. A malformed timer that is used
    /// directly stays within zero and `maxTime`, and never shrinks.
    ///
    /// - Parameters:
    ///   - initialTime: The first pause, from zero to `maxTime`.
    ///   - maxTime: The longest pause, not below zero.
    ///   - jitter: How a pause is randomised; by default normal with `defaultJitter`. A deviation
    ///     is finite and not below zero.
    ///   - growth: The finite factor between one pause and the next, not below one; by default e,
    ///     as in SPTDataLoader.
    public init(
        initialTime: Duration, maxTime: Duration, jitter: Jitter = .normal(defaultJitter),
        growth: Double = 2.718281828459045
    ) {
        self.maxTime = max(.zero, maxTime)
        self.initialTime = min(max(.zero, initialTime), self.maxTime)
        self.jitter = jitter
        self.growth = growth >= 1 ? growth : 1
        timeInterval = self.initialTime
        center = self.initialTime
        malformedParameter =
            if maxTime < .zero { .maxTime } else if self.initialTime != initialTime {
                .initialTime
            } else if !(growth >= 1 && growth.isFinite) {
                .growth
            } else if case .normal(let deviation) = jitter, !(deviation >= 0 && deviation.isFinite)
            {
                .jitter
            } else {
                nil
            }
    }

    /// Advances to the next pause and returns it.
    @discardableResult
    public mutating func calculateNext() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return calculateNext(using: &generator)
    }

    /// Advances to the next pause and returns it, with randomness from `generator`.
    @discardableResult
    mutating func calculateNext(
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        center = clamped(seconds: center.inSeconds * growth)
        timeInterval = draw(around: center, using: &generator)
        // Not below the first pause: from zero no pause would grow any more.
        if case .normal = jitter { center = max(timeInterval, initialTime) }
        return timeInterval
    }

    /// Returns the current pause and advances to the next.
    public mutating func timeIntervalAndCalculateNext() -> Duration {
        defer { calculateNext() }
        return timeInterval
    }

    /// Returns the current pause and advances to the next, with randomness from `generator`.
    package mutating func timeIntervalAndCalculateNext(
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        defer { calculateNext(using: &generator) }
        return timeInterval
    }

    /// Returns to the initial time.
    public mutating func reset() {
        timeInterval = initialTime
        center = initialTime
    }

    /// A pause before retry `n`, from 1, drawn around min(maxTime, initialTime · growth^(n−1)).
    ///
    /// For callers that count their retries and keep no timer. The first pause has jitter too.
    func pause(
        beforeRetry n: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        guard initialTime > .zero else { return .zero }
        let factor = pow(growth, Double(max(1, n) - 1))
        return draw(around: clamped(seconds: initialTime.inSeconds * factor), using: &generator)
    }

    /// The same timer with another initial time, which its longest pause is not below.
    func starting(at initialTime: Duration) -> Self {
        Self(
            initialTime: initialTime, maxTime: max(maxTime, initialTime), jitter: jitter,
            growth: growth)
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
            // The Box–Muller transform (1958).
            let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &generator))).squareRoot()
            let angle = 2 * Double.pi * Double.random(in: 0..<1, using: &generator)
            return clamped(seconds: center.inSeconds * (1 + deviation * radius * cos(angle)))
        }
    }

    private func clamped(seconds: Double) -> Duration {
        min(maxTime, max(.zero, .saturating(seconds: seconds)))
    }
}

extension ExponentialTimer {
    var fault: DataLoaderError? {
        malformedParameter.map {
            .malformed("ExponentialTimer.\($0.rawValue)", "is out of its range")
        }
    }
}
