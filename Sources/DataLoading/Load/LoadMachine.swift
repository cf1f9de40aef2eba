// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The state machine of one load: a pure value that turns events into actions.
///
/// ```
/// created ─▶ asking? ─▶ authorising ─▶ applying ─▶ queued? ─▶ running ─▶ deciding? ─▶ ended
///                           ▲              ▲          │          │
///                           │              └──────────┘          │
///                           └── pausing ◀── retry, redirect, 401 ┘
/// ```
///
/// A stage that answers later has an epoch. An answer with an older epoch is undone or ignored.
/// Extensions in several files change the state; the one value of a load is private to `Load`,
/// behind a lock.
struct LoadMachine: Sendable {
    enum State: Sendable {
        case created
        /// The owner is asked whether it takes chunks.
        case askingForChunks
        /// The owner is asked for another body.
        case askingForBody(then: NextStep, otherwise: DataLoaderError?)
        /// The authorisers are asked; with a task when one answers later. Slots are kept for an
        /// immediate answer.
        case authorising(Task<Void, Never>?, slots: Origin?)
        /// The load has asked for slots.
        case applying
        case queued(Admission.Ticket)
        /// The load holds slots, and an address is being chosen.
        case dialling(Origin)
        case running(Attempt)
        /// The step after an attempt is being decided; its slots may still be held.
        case deciding(slots: Origin?)
        /// The pause's timer is not set yet.
        case resting
        case pausing(TimerQueue.Entry)
        /// The deadline passed while an attempt ran; the attempt is being cancelled.
        case timingOut(DataLoaderError.Phase?)
        case ended(LoadEnding)
    }

    var state = State.created
    /// The number of stages that the load has entered.
    var epoch = 0
    var facts: LoadFacts
    /// The instant at which the present stage began, for the metrics.
    var stageBegan: Instant
    var deadline: TimerQueue.Entry?
    /// The number of attempts whose end the transport has not reported.
    var openAttempts = 0
    /// Whether the time of an attempt that was never sent was counted before its end was reported.
    var hasCountedConnecting = false

    init(_ facts: LoadFacts) {
        self.facts = facts
        stageBegan = facts.traits.begun
    }

    var traits: LoadTraits { facts.traits }

    /// Handles one event at an instant; returns the actions that follow, in order.
    ///
    /// The instant is not read for bytes of a body, because reading a clock for each piece would
    /// cost.
    mutating func handle(_ event: LoadEvent, at now: @autoclosure () -> Instant) -> LoadActionList {
        switch event {
        case .begin(let target, let refusal, let timer): begin(target, refusal, timer, now())
        case .chunkSupport(let isThere, let epoch): chunkSupport(isThere, epoch, now())
        case .newBody(let stream, let epoch): newBody(stream, epoch, now())
        case .authoriserAnswersLater(let task, let epoch): answersLater(task, epoch)
        case .authorised(let chain, let epoch): authorised(chain, epoch, now())
        case .queued(let ticket, let epoch): queued(ticket, epoch)
        case .admitted(let context, let mayAskNow, let epoch):
            admitted(context, mayAskNow, epoch, now())
        case .mustApplyAgain(let epoch): mustApplyAgain(epoch, now())
        case .timerSet(let timer, let epoch): timerSet(timer, epoch)
        case .pauseIsOver(let epoch): pauseIsOver(epoch, now())
        case .decided(let next, let epoch): decided(next, epoch, now())
        case .failed(let error, let epoch): epoch == self.epoch ? complete(error, now()) : []
        case .overloaded: complete(.overloaded, now())
        case .head(let head, let context): received(head, context)
        case .judged(let verdict, let context): judged(verdict, context)
        case .bytes(let bytes, let context): inAttempt(context) { $0.received(bytes, &$1) } ?? []
        case .takeHeld(let context): takeHeld(context, now())
        case .sent(let progress, let context):
            attempt(context) == nil ? [] : [.noteProgress(progress, .upload)]
        case .ended(let context, let report, let failure): ended(context, report, failure, now())
        case .withdrawn(let context, let mayHaveSent): withdrawn(context, mayHaveSent, now())
        case .windowHasOpened: windowHasOpened()
        case .sinkFailed(let error): sinkFailed(error, now())
        case .deadlineHasPassed: deadlineHasPassed(now())
        case .endFromOutside(let error): endFromOutside(error, now())
        case .handedOver(let retryAfter): handedOver(retryAfter)
        }
    }
}
