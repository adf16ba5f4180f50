internal import Synchronization

/// Which unit a picture came of.
///
/// Units get numbers, which travel through the decoder with them: a unit's own time may be of any clock,
/// and negative, and decoders invent times of their own where those they get go back. Thread: any.
final class PendingAccessUnits: Sendable {
    struct Entry: Sendable {
        let number: Int
        let time: MediaTime
        let rotation: VideoRotation
    }
    private struct State {
        /// Units whose pictures are to come, in the order of their numbers.
        var pending: [Entry] = []
        var next = 0
        var lost = 0
        var last: Entry?
    }
    private let state = Mutex(State())
    private let reordering: Int
    /// From one number's time to the next.
    private static let step: UInt64 = 1_000_000

    /// What numbers go by in a buffer.
    private let reference: Caps

    /// - Parameter reordering: Units that may overtake another.
    init(reordering: Int) throws(PipelineError) {
        self.reordering = reordering
        reference = try Caps("timestamp/x-mediabridge-unit")
    }

    /// Enters a unit.
    ///
    /// - Parameter buffer: Gets its number.
    func enter(
        _ unit: EncodedVideoFrame, givesPicture: Bool, in buffer: inout Buffer
    ) {
        let time = unit.time ?? MediaTime(SharedClock.now)
        let number = state.withLock { state in
            let number = state.next
            state.next += 1
            if givesPicture {
                let entry = Entry(number: number, time: time, rotation: unit.rotation)
                state.pending.append(entry)
            }
            return number
        }
        let stamp = ClockTime(nanoseconds: UInt64(number) * Self.step)
        buffer.presentationTime = stamp
        buffer.addReferenceTime(stamp, of: reference)
    }

    /// The unit that was entered last did not go in.
    func withdraw() {
        state.withLock { state in
            state.next -= 1
            if state.pending.last?.number == state.next { state.pending.removeLast() }
        }
    }

    /// The unit of a picture; where the decoder made one up, that of the one before.
    func unit(of picture: VideoFrame) -> Entry? {
        // A decoder that forgets the reference keeps the order, at least.
        let reference = (picture.storage as? BufferFrameStorage)?
            .buffer.referenceTime(of: self.reference).map { MediaTime($0) }
        let number = (reference ?? picture.runningTime).map {
            Int($0.nanoseconds / Int64(Self.step))
        }
        return state.withLock { state in
            guard let place = state.pending.firstIndex(where: { $0.number == number }) else {
                return state.last
            }
            let found = state.pending.remove(at: place)
            state.last = found
            // Who was overtaken by too many will not come any more.
            let late = state.pending.prefix { $0.number < found.number - reordering }
            state.lost += late.count
            state.pending.removeFirst(late.count)
            return found
        }
    }

    /// What is pending will not come.
    func loseRest() {
        state.withLock { state in
            state.lost += state.pending.count
            state.pending = []
        }
    }

    var lost: Int { state.withLock { $0.lost } }
}
