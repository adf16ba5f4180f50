import MediaBridge

/// An offered piece of audio.
struct OfferedSound: Sendable {
    var format = AudioFormat(.s16le, sampleRate: 48_000, channels: 1)
    var samples = 960
    /// Seconds.
    var time: Double?
    /// When the piece is offered, in seconds; orders the streams among each other.
    var turn: Double

    /// Seconds.
    var length: Double { Double(samples) / Double(format.sampleRate) }
}

extension MutatedCapture {
    /// The audio in the order in which it is offered, in pieces of 20 ms: two for each frame.
    var offeredSound: [OfferedSound] {
        guard hasSound else { return [] }
        var result: [OfferedSound] = []
        var piece = OfferedSound(turn: value(.soundBegins))
        var (clock, block, jitter) = (piece.turn, 0, 0.0)
        // At most as long as the original video.
        let length = Double(pictures) * 0.04 * (has(.soundEnds) ? 0.75 : 1)
        let end = max(0, length - value(.soundBegins))
        var (number, heard) = (0, 0.0)
        while heard < end - 0.001 || result.isEmpty {
            var shift = 0.0
            piece.time = 0
            let first = number
            for mutation in mutations where mutation.at * 2 == first {
                apply(mutation, to: &piece, &block)
                switch mutation.kind {
                case .soundGap, .soundJump, .clock:
                    clock += mutation.number
                    if isLive { piece.turn += max(0, mutation.number) }
                case .soundOverlap: clock -= mutation.number
                case .soundLate: shift = -mutation.number
                case .soundUntimed: piece.time = nil
                case .soundJitter: jitter = mutation.number
                default: break
                }
            }
            piece.samples = block > 0 ? block : piece.format.sampleRate / 50
            if piece.time != nil { piece.time = clock + shift + jitter * Double(number % 3 - 1) }
            result.append(piece)
            clock += piece.length
            piece.turn += piece.length
            heard += piece.length
            // A piece of another length may advance by several numbers, but a number never repeats.
            number = max(number + 1, Int(heard / 0.02 + 0.5))
            skipped(before: number, after: first, &piece, &block, &clock, &jitter)
        }
        return result
    }

    /// Applies the mutations of skipped numbers.
    private func skipped(
        before number: Int, after last: Int, _ piece: inout OfferedSound, _ block: inout Int,
        _ clock: inout Double, _ jitter: inout Double
    ) {
        for mutation in mutations where mutation.at * 2 > last && mutation.at * 2 < number {
            apply(mutation, to: &piece, &block)
            switch mutation.kind {
            case .soundGap, .soundJump, .clock: clock += mutation.number
            case .soundOverlap: clock -= mutation.number
            case .soundJitter: jitter = mutation.number
            default: break
            }
        }
    }

    private func apply(_ mutation: Mutation, to piece: inout OfferedSound, _ block: inout Int) {
        var format = piece.format
        switch mutation.kind {
        case .soundRate: format.sampleRate = Int(mutation.number)
        case .soundChannels:
            format.channels = Int(mutation.number)
            format.channelMask = AudioFormat.usualMask(channels: format.channels)
        case .soundFormat:
            format.sampleFormat =
                AudioSampleFormat(rawValue: mutation.value) ?? format.sampleFormat
        case .soundPlanar: format.isPlanar = true
        case .soundBlock: block = Int(mutation.number)
        default: return
        }
        piece.format = format
    }
}
