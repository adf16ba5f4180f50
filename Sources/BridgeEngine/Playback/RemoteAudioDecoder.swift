internal import MediaCore
internal import Synchronization

/// Decodes one user's audio units while the audio has a listener. Thread: any, one unit at a time.
final class RemoteAudioDecoder: Sendable {
    private struct State {
        var decoder: (any AudioDecoder)?
        var codec: AudioCodec?
        /// The counts of earlier decoders.
        var concealed = 0
        var isFailing = false

        mutating func end() {
            concealed += decoder?.concealedSamples ?? 0
            (decoder, codec) = (nil, nil)
        }
    }
    private let state = Mutex(State())
    private let backend: any MediaBackend
    /// Counts the units to decode. Decoded units count as delivered.
    private let meter = FlowMeter<AudioUnitMedia>()

    init(_ backend: any MediaBackend) { self.backend = backend }

    var balance: FrameBalance { meter.balance }

    /// Samples, per channel, that replace lost units.
    var concealedSamples: Int {
        state.withLock { $0.concealed + ($0.decoder?.concealedSamples ?? 0) }
    }

    /// Ends the stream: the next unit starts a new one.
    func end() { state.withLock { $0.end() } }

    /// Decodes a unit.
    ///
    /// - Returns: The frames, and the error if this is the first unit in a row that cannot be decoded.
    func decode(
        _ unit: EncodedAudioFrame
    ) -> (frames: [AudioFrame], failure: (any Error)?) {
        meter.offered.note(unit)
        return state.withLock { state in
            do {
                if state.codec != unit.codec {
                    state.end()
                    // Set first, so that a missing decoder is not looked up again for each unit.
                    state.codec = unit.codec
                    state.isFailing = false
                    state.decoder = try backend.makeAudioDecoder(unit.codec)
                }
                guard let decoder = state.decoder else {
                    meter.drops.note(.undecodable)
                    return ([], nil)
                }
                let frames = try decoder.decode(unit)
                meter.delivered.note()
                state.isFailing = false
                return (frames, nil)
            } catch {
                meter.drops.note(.undecodable)
                defer { state.isFailing = true }
                return ([], state.isFailing ? nil : error)
            }
        }
    }
}

/// The media type for counting audio units.
enum AudioUnitMedia: CountedMedia {
    typealias Frame = EncodedAudioFrame
    typealias Arrivals = AudioUnitMeter
}

/// Counts units of audio. Thread: any.
final class AudioUnitMeter: ArrivalMeter {
    private let count = Atomic<Int>(0)

    func note(_ frame: borrowing EncodedAudioFrame) {
        count.add(1, ordering: .sequentiallyConsistent)
        CountWatch.noteCount()
    }

    var frames: Int { count.load(ordering: .relaxed) }
}
