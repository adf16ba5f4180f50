internal import Synchronization

/// Keeps the pictures of a recording at the size and format of the first.
///
/// Encoders and muxers do not take a change: mp4 is damaged without a word, mkv fails. So an output
/// that encodes or muxes gets every picture of another kind scaled to the first one's, with borders
/// where the shape differs. Pictures that are of the first one's kind pass untouched.
final class FixedGeometry: Sendable {
    private struct State {
        var first: Caps?
        var converted: Caps?
        var converter: ElementChain?
    }
    private let state = Mutex(State())

    /// Forgets an earlier run.
    func reset() { state.withLock { $0 = State() } }

    /// The converter that pictures with `caps` need; `nil` where they need none.
    func converter(for caps: Caps) throws(PipelineError) -> ElementChain? {
        try state.withLock { state throws(PipelineError) -> ElementChain? in
            guard let first = state.first else {
                state.first = caps
                return nil
            }
            if first.identity == caps.identity { return nil }
            if let converted = state.converted, converted.identity == caps.identity {
                return state.converter
            }
            guard let want = VideoInfo(first), let have = VideoInfo(caps) else {
                throw PipelineError(
                    .streamFailed, message: "the stream changed from \(first) to \(caps)",
                    advice: "record each into a file of its own")
            }
            state.converted = caps
            state.converter =
                Self.isSame(want, have)
                ? nil
                : try ElementChain(
                    "videoconvert ! videoscale add-borders=true ! capsfilter caps=\"\(Self.pin(want))\""
                )
            return state.converter
        }
    }

    private static func isSame(_ a: VideoInfo, _ b: VideoInfo) -> Bool {
        a.format == b.format && a.width == b.width && a.height == b.height
            && a.pixelAspectRatio == b.pixelAspectRatio
    }

    private static func pin(_ info: VideoInfo) -> String {
        let ratio = info.pixelAspectRatio
        return "video/x-raw, format=\(info.format), width=\(info.width), height=\(info.height), "
            + "pixel-aspect-ratio=\(ratio.numerator)/\(ratio.denominator)"
    }
}
