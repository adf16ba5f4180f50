import TestSupport

extension MutatedCapture {
    /// The case of a seed and a number. Of every 200 cases, the first 100 have one mutation, the next 50
    /// two, and the rest none to six.
    init(seed: UInt64, number: Int) {
        var random = SeededGenerator(
            seed: seed &* 0x2545_f491_4f6c_dd1d &+ UInt64(number))
        // The command takes a tenth of a second to start: one case in twenty-five uses it.
        let ways = Way.allCases.filter { $0 != .commandRun && $0 != .commandRecord }
        let way =
            switch number % 25 {
            case 11: number % 2 == 0 ? Way.commandRun : Way.commandRecord
            default: ways[number % ways.count]
            }
        self.init(way, Self.containers[(number / ways.count + number) % 4])
        pictures = Int.random(in: 24...48, using: &random)
        hasSound = way.mayHaveSound && Bool.random(using: &random)
        isLive = way.mayBeLive && Int.random(in: 0..<3, using: &random) == 0
        let place = number % 200
        let count =
            place < 100 ? 1 : place < 150 ? 2 : Int.random(in: 0...6, using: &random)
        // Half of all mutations concern audio.
        if way.mayHaveSound, place < 100, number % 2 == 0 { hasSound = true }
        var kinds = Mutation.Kind.allCases.filter {
            (way.isString ? $0.isForStrings : $0.isForPushes) && (hasSound || !$0.needsSound)
        }
        for index in 0..<count where !kinds.isEmpty {
            // The first mutation cycles through all kinds, so that none is missed.
            let turn =
                index == 0
                ? (number / ways.count + Int(seed % 1000)) % kinds.count
                : Int.random(in: 0..<kinds.count, using: &random)
            let kind = kinds[turn]
            // A mutation may occur twice, but the start of a stream is set only once.
            if kind.needsSound || Bool.random(using: &random) { kinds.remove(at: turn) }
            let at = Int.random(in: 1..<pictures - 2, using: &random)
            // A string cannot go back: its sources start at zero.
            let values = kind.values.filter { !way.isString || !$0.hasPrefix("-") }
            guard let value = values.randomElement(using: &random) else { continue }
            mutations.append(Mutation(kind, at: at, value))
        }
        mutations.sort { ($0.at, $0.kind.rawValue) < ($1.at, $1.kind.rawValue) }
    }
}
