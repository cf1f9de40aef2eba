// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// An action that the machine of a load asks for; `LoadActions.swift` performs it.
///
/// Large cases are indirect: every action in a list takes as much room as the largest.
enum LoadAction: Sendable {
    /// The place of an action in a list is empty.
    case nothing
    /// Ask the owner whether it takes chunks.
    case askForChunkSupport(epoch: Int)
    /// Ask the sink for what an earlier load has left.
    case prepareSink(epoch: Int)
    /// Ask the owner for a body in place of a body that was read.
    case askForBody(epoch: Int)
    /// Tell the owner that the load waits for a connection.
    case tellWaitingForConnectivity
    /// Share a request with other loads, if it can be shared.
    indirect case share(RequestTarget, epoch: Int)
    /// Leave the load that is sent for several, and report whether its request may have been sent.
    case leaveCarrier(Carrier)
    /// Call the factory's interceptors.
    case intercept(epoch: Int)
    /// End the interceptors' task and the loads inside.
    case endInterception(Interception)
    /// End them at the deadline, and report whether any of their requests may have been sent.
    case withdrawInterception(Interception)
    /// Tell a shared load that its bytes and times are those of this load.
    case noteCounted(Carrier)
    /// Tell the end that a head has arrived which is that of the load's response.
    case tellHead
    /// Ask the cache about a request.
    case recall(epoch: Int)
    /// Play a stored response.
    indirect case play(StoredUse, RequestTarget, Recall, epoch: Int)
    /// Validate a stored response in a load of its own.
    indirect case revalidate(DataLoaderRequest, Recall)
    /// Store a whole response.
    indirect case keep(KeptResponse)
    /// Remove what is stored of a URL, because a newer response is not kept.
    indirect case removeStored(RequestTarget)
    /// Remove the stored response that the request has chosen, because the origin refuses it.
    indirect case dropStored(Recall)
    /// Remove what a request of an unsafe method has changed.
    indirect case invalidate(ResponseHead, HTTPMethod, RequestTarget)
    /// Ask the factory's authorisers.
    case authorise(epoch: Int)
    case cancelTask(Task<Void, Never>)
    /// Ask for a rate slot and a connection slot.
    case apply(Sending, hasWaited: Bool, epoch: Int)
    case withdraw(Admission.Ticket)
    /// Take the place in the queue that belongs to the load's priority, unless the load has its slots.
    indirect case changePlace(Admission.Ticket)
    /// Give the slots back.
    case leave(Origin)
    /// Give back the slots of a load that was admitted and does not use them, after this call: the load
    /// that gets them may do the same, and these calls must not nest.
    case handOn(Origin)
    /// Choose an address; the slots are held.
    case dial(Sending, HostResolver.Candidate?, epoch: Int)
    /// Give back an address that was chosen and is not used.
    case release(HostResolver.Candidate, Origin)

    /// Hand an attempt to the transport.
    case start(AttemptSink)
    case pauseAttempt(AttemptSink)
    case resumeAttempt(AttemptSink)
    case cancelAttempt(AttemptSink)
    /// Cancel an attempt, and report whether any of it may have been sent.
    case withdrawAttempt(AttemptSink)

    /// Close the gate that a 429 or 503 asks for.
    indirect case noteRetryAfter(ResponseHead, RequestTarget)
    /// Tell the resolver what an attempt that succeeded showed about its address, tell the retry
    /// budget of the success, and give the slots back.
    case settle(AttemptSink, AddressOutcome, isClean: Bool, RetryCost?)
    /// Tell the resolver what an attempt showed about its address.
    case noteAddress(AttemptSink, AddressOutcome)
    /// Tell the retry budget of a success: clean, or after a retry that had a cost.
    case noteSuccess(Origin, isClean: Bool, RetryCost?)
    /// Return the cost of a retry that never began.
    case refund(RetryCost, Origin)

    /// Decide about a response; on the factory's queue where user code takes part.
    case judge(ResponseHead, AttemptSink, asksUsers: Bool)
    /// Take the events that were held back.
    case takeHeld(AttemptSink)
    /// Decide about the step after a failure.
    indirect case judgeFailure(TransportFailure, LoadFacts, holdsSlot: Bool, epoch: Int)
    /// Ask the request's own policy about a failure, or about a skipped attempt.
    indirect case askPolicy(TransportFailure, isSpared: Bool, epoch: Int)
    /// Wait before another attempt.
    case setTimer(Duration, epoch: Int)
    case cancelTimer(TimerQueue.Entry)

    /// Hand over the head of a response whose body follows in pieces.
    indirect case deliverHead(DataLoaderResponse)
    /// Hand over a piece of the body.
    case deliver(Data, AttemptSink)
    case noteProgress(BodyProgress, ProgressReporter.Direction)
    case flushProgress
    /// Drop what was not delivered to the owner: it gets only the outcome.
    case drop
    case markCancelled
    /// Tell the end of the load that the outcome can be taken; cancel the deadline's timer before.
    case announceOutcome(TimerQueue.Entry?)
    /// Tell the observers: the load is over.
    case report

    var isNothing: Bool {
        if case .nothing = self { true } else { false }
    }
}
