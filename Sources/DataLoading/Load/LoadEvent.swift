// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// An input of `LoadMachine`.
///
/// An answer to a stage carries the epoch of that stage, except `.overloaded`. An event of an
/// attempt carries the attempt. The machine ignores or undoes those whose stage or attempt is over.
enum LoadEvent: Sendable {
    /// The load was performed: with its target or its fault, and with the reason why it may not
    /// start.
    case begin(
        Result<RequestTarget, RequestFault>, refusal: DataLoaderError?, deadline: TimerQueue.Entry?)
    /// The owner said whether it takes chunks.
    case chunkSupport(Bool, epoch: Int)
    /// The sink has looked for what an earlier load has left.
    indirect case sinkIsReady(StoredPart?, epoch: Int)
    /// The cache has answered; with the attempt that plays what is stored, if that is to be used.
    case recalled(Recall, playing: AttemptSink?, epoch: Int)
    /// The cache has answered with the load's whole response.
    case answered(StoredWhole, epoch: Int)
    /// The load has joined another one that is sent for it.
    case follows(Carrier, epoch: Int)
    /// The load cannot share its request.
    case notShared(epoch: Int)
    /// The load has left the one that is sent for it.
    case leftCarrier(mayHaveSent: Bool)
    /// The load that was sent for it has ended.
    indirect case shared(SharedResponse, epoch: Int)
    /// The factory's interceptors are called.
    case interceptionBegan(Interception, epoch: Int)
    /// The interceptors have answered.
    indirect case intercepted(InterceptedAnswer, epoch: Int)
    /// Loads inside were counted; with whether none is left.
    indirect case insideCounted(LoadMetrics, isOver: Bool)
    /// The loads inside were cancelled at the deadline.
    case insideWithdrawn(mayHaveSent: Bool)
    /// The owner made another body, or has none.
    case newBody(OneShotStream?, epoch: Int)
    /// An authoriser answers later, in a task.
    case authoriserAnswersLater(Task<Void, Never>, epoch: Int)
    /// The authorisers have answered.
    case authorised(AuthoriserChain, epoch: Int)
    /// The load waits in the queue for its slots.
    case queued(Admission.Ticket, epoch: Int)
    /// The load holds its slots for this attempt; `mayAskNow` says whether authorisers can be asked
    /// at once.
    case admitted(AttemptSink, mayAskNow: Bool, epoch: Int)
    /// The load lost its place in the queue, because a rate was set for a part of its origin.
    case mustApplyAgain(epoch: Int)
    /// The priority of the most urgent load that waits for this one.
    case carries(Priority)
    /// The timer of a pause, or of a discarded body, was set.
    case timerSet(TimerQueue.Entry, epoch: Int)
    /// The time of that timer is over.
    case timeIsOver(epoch: Int)
    /// The step after an attempt, made or skipped, was decided.
    case decided(NextStep, epoch: Int)
    /// A stage failed.
    case failed(DataLoaderError, epoch: Int)
    /// Too many loads wait for user code already.
    case overloaded

    /// An attempt's final head arrived.
    case head(ResponseHead, AttemptSink)
    /// The verdict on an attempt's response was decided.
    case judged(Verdict, AttemptSink)
    /// Bytes of an attempt's body arrived.
    case bytes(Data, AttemptSink)
    /// The next of the events that were held back before the verdict may be taken.
    case takeHeld(AttemptSink)
    /// The transport took bytes of the request's body.
    case sent(BodyProgress, AttemptSink)
    /// An attempt was cancelled before it ended by itself.
    case withdrawn(AttemptSink, mayHaveSent: Bool)

    /// The owner has room for more of the body.
    case windowHasOpened
    /// The sink cannot take the body.
    case sinkFailed(DataLoaderError)
    /// The deadline passed.
    case deadlineHasPassed
    /// The load is ended from outside: by a cancellation, a reset or the end of the service.
    case endFromOutside(DataLoaderError)
}
