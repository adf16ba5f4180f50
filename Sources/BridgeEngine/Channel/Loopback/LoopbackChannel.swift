internal import MediaCore
internal import Synchronization

/// One channel of a loopback network. It exists as long as it has members.
///
/// Thread: any. Functions that change the channel return deferred work; the caller finishes it when
/// it holds no lock.
final class LoopbackChannel: Sendable {
    private let roster = Mutex(LoopbackRoster())

    var isEmpty: Bool { roster.withLock { $0.isEmpty } }

    func add(_ member: LoopbackMember) -> (slot: Int?, deferred: DeferredActions) {
        roster.withLock { ($0.add(member), $0.takeDeferredActions()) }
    }

    func remove(_ slot: Int, reason: OfflineReason) -> DeferredActions {
        roster.withLock { roster in
            roster.remove(slot, reason: reason)
            return roster.takeDeferredActions()
        }
    }

    func end(_ error: EngineError) -> DeferredActions {
        roster.withLock { roster in
            roster.end(error)
            return roster.takeDeferredActions()
        }
    }

    func publish(_ track: TrackID, from slot: Int) -> DeferredActions {
        roster.withLock { roster in
            roster.publish(track, from: slot)
            return roster.takeDeferredActions()
        }
    }

    func unpublish(_ track: TrackID, from slot: Int) -> DeferredActions {
        roster.withLock { roster in
            roster.unpublish(track, from: slot)
            return roster.takeDeferredActions()
        }
    }

    func send(
        _ frame: VideoFrame, track: TrackID, from slot: Int
    ) -> (disposition: FrameDisposition, deferred: DeferredActions) {
        roster.withLock { ($0.send(frame, track: track, from: slot), $0.takeDeferredActions()) }
    }

    func send(
        _ unit: EncodedVideoFrame, track: TrackID, from slot: Int
    ) -> (disposition: FrameDisposition, deferred: DeferredActions) {
        roster.withLock { ($0.send(unit, track: track, from: slot), $0.takeDeferredActions()) }
    }

    func publishAudio(from slot: Int) -> DeferredActions {
        roster.withLock { roster in
            roster.publishAudio(from: slot)
            return roster.takeDeferredActions()
        }
    }

    func unpublishAudio(from slot: Int) -> DeferredActions {
        roster.withLock { roster in
            roster.unpublishAudio(from: slot)
            return roster.takeDeferredActions()
        }
    }

    func send(
        _ frame: AudioFrame, from slot: Int
    ) -> (disposition: FrameDisposition, deferred: DeferredActions) {
        roster.withLock { ($0.send(frame, from: slot), $0.takeDeferredActions()) }
    }

    func statistics(of slot: Int, into statistics: inout ChannelStatistics) {
        roster.withLock { $0.statistics(of: slot, into: &statistics) }
    }
}
