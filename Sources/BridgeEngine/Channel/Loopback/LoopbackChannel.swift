internal import MediaCore
internal import Synchronization

/// One channel of a loopback network, as long as somebody is in it.
///
/// Thread: any. What changes returns what is left to do, for the caller to finish when it holds no lock.
final class LoopbackChannel: Sendable {
    private let seats = Mutex(LoopbackSeats())

    var isEmpty: Bool { seats.withLock { $0.isEmpty } }

    func add(_ member: LoopbackMember) -> (seat: Int?, aftermath: LoopbackAftermath) {
        seats.withLock { ($0.add(member), $0.takeAftermath()) }
    }

    func remove(_ seat: Int, reason: OfflineReason) -> LoopbackAftermath {
        seats.withLock { seats in
            seats.remove(seat, reason: reason)
            return seats.takeAftermath()
        }
    }

    func end(_ error: EngineError) -> LoopbackAftermath {
        seats.withLock { seats in
            seats.end(error)
            return seats.takeAftermath()
        }
    }

    func publish(_ track: TrackID, from seat: Int) -> LoopbackAftermath {
        seats.withLock { seats in
            seats.publish(track, from: seat)
            return seats.takeAftermath()
        }
    }

    func unpublish(_ track: TrackID, from seat: Int) -> LoopbackAftermath {
        seats.withLock { seats in
            seats.unpublish(track, from: seat)
            return seats.takeAftermath()
        }
    }

    func send(
        _ frame: VideoFrame, track: TrackID, from seat: Int
    ) -> (disposition: FrameDisposition, aftermath: LoopbackAftermath) {
        seats.withLock { ($0.send(frame, track: track, from: seat), $0.takeAftermath()) }
    }

    func publishAudio(from seat: Int) -> LoopbackAftermath {
        seats.withLock { seats in
            seats.publishAudio(from: seat)
            return seats.takeAftermath()
        }
    }

    func unpublishAudio(from seat: Int) -> LoopbackAftermath {
        seats.withLock { seats in
            seats.unpublishAudio(from: seat)
            return seats.takeAftermath()
        }
    }

    func send(
        _ frame: AudioFrame, from seat: Int
    ) -> (disposition: FrameDisposition, aftermath: LoopbackAftermath) {
        seats.withLock { ($0.send(frame, from: seat), $0.takeAftermath()) }
    }

    func statistics(of seat: Int, into statistics: inout ChannelStatistics) {
        seats.withLock { $0.statistics(of: seat, into: &statistics) }
    }
}
