internal import Synchronization

/// Which unit a picture came of.
///
/// Units get numbers, which travel through the decoder in the place of times: a unit's own time may be
/// of any clock, and negative. Thread: any.
final class UnitLedger: Sendable {
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

    /// - Parameter reordering: Units that may overtake another.
    init(reordering: Int) { self.reordering = reordering }

    /// Enters a unit.
    ///
    /// - Returns: Its number as a time.
    func enter(
        time: MediaTime, rotation: VideoRotation, givesPicture: Bool
    ) -> ClockTime {
        state.withLock { state in
            let number = state.next
            state.next += 1
            if givesPicture {
                state.pending.append(Entry(number: number, time: time, rotation: rotation))
            }
            return ClockTime(nanoseconds: UInt64(number) * Self.step)
        }
    }

    /// The unit that was entered last did not go in.
    func withdraw() {
        state.withLock { state in
            state.next -= 1
            if state.pending.last?.number == state.next { state.pending.removeLast() }
        }
    }

    /// The unit of a picture; where the decoder made up a picture or a time, that of the one before.
    func unit(of time: MediaTime?) -> Entry? {
        state.withLock { state in
            let number = time.map { Int($0.nanoseconds / Int64(Self.step)) }
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
