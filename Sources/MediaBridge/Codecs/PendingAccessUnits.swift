internal import Synchronization

/// Finds the access unit that a decoded picture belongs to.
///
/// Units are numbered, and the numbers travel through the decoder as timestamps: a unit's own time
/// may be on any clock and may be negative, and decoders invent times if their input times go
/// backwards. Thread: any.
final class PendingAccessUnits: Sendable {
    struct Entry: Sendable {
        let number: Int
        let time: MediaTime
        let rotation: VideoRotation
        let live: LiveTiming?
    }
    private struct State {
        /// Units whose pictures have not come out yet, in the order of their numbers.
        var pending: [Entry] = []
        var next = 0
        var lost = 0
        /// Pictures of no pending unit, less units without a picture.
        var surplus = 0
        var last: Entry?
    }
    private let state = Mutex(State())
    private let reordering: Int
    /// Nanoseconds between the timestamps of two consecutive numbers.
    private static let step: UInt64 = 1_000_000

    /// The caps of the reference timestamp that carries a unit's number in its buffer.
    private let reference: Caps

    /// - Parameter reordering: The maximum number of units by which a picture may be late.
    init(reordering: Int) throws(PipelineError) {
        self.reordering = reordering
        reference = try Caps("timestamp/x-mediabridge-unit")
    }

    /// Registers a unit and numbers it.
    ///
    /// - Parameter buffer: Its presentation time and a reference timestamp are set to the number.
    func enter(
        _ unit: EncodedVideoFrame, givesPicture: Bool, in buffer: inout Buffer
    ) {
        let time = unit.runningTime ?? MediaTime(SharedClock.now)
        let number = state.withLock { state in
            let number = state.next
            state.next += 1
            if givesPicture {
                let entry = Entry(
                    number: number, time: time, rotation: unit.rotation, live: unit.liveTiming)
                state.pending.append(entry)
            } else {
                state.surplus -= 1
            }
            return number
        }
        let stamp = ClockTime(nanoseconds: UInt64(number) * Self.step)
        buffer.presentationTime = stamp
        buffer.addReferenceTime(stamp, of: reference)
    }

    /// Undoes the last ``enter(_:givesPicture:in:)``, because the unit was not pushed.
    func withdraw() {
        state.withLock { state in
            state.next -= 1
            if state.pending.last?.number == state.next {
                state.pending.removeLast()
            } else {
                state.surplus += 1
            }
        }
    }

    /// Returns the unit of a picture. If it is unknown, because the decoder made the picture up,
    /// returns the unit of the previous picture.
    func unit(of picture: VideoFrame) -> Entry? {
        // Some decoders drop the reference timestamp; the presentation time is used instead.
        let reference = (picture.storage as? BufferFrameStorage)?
            .buffer.referenceTime(of: self.reference).map { MediaTime($0) }
        let number = (reference ?? picture.runningTime).map {
            Int($0.nanoseconds / Int64(Self.step))
        }
        return state.withLock { state in
            guard let place = state.pending.firstIndex(where: { $0.number == number }) else {
                if state.last != nil { state.surplus += 1 }
                return state.last
            }
            let found = state.pending.remove(at: place)
            state.last = found
            // Units overtaken by more than `reordering` others will not give a picture any more.
            let late = state.pending.prefix { $0.number < found.number - reordering }
            state.lost += late.count
            state.pending.removeFirst(late.count)
            return found
        }
    }

    /// Counts all pending units as lost.
    func loseRest() {
        state.withLock { state in
            state.lost += state.pending.count
            state.pending = []
        }
    }

    var lost: Int { state.withLock { $0.lost } }

    var surplus: Int { state.withLock { $0.surplus } }
}
