/// Sound in short steps, and the mix of many users.
enum Sound: Workload {
    static let name = "sound"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        let users = 32
        return [
            Comparison(
                "sound-steps", "Sound in steps of 10 ms through a bridge", pieces: 100_000,
                piece: "step", isCounted: true
            ) { steps in
                let capture =
                    "audiotestsrc wave=silence num-buffers=\(steps) samplesperbuffer=480 ! "
                    + "audio/x-raw,format=S16LE,rate=48000,channels=2"
                return [
                    .bridge(
                        "\(capture) ! appsink name=audio", "appsrc name=audio ! \(Media.nowhere)",
                        limits: [Limit(.cpu, .ratio(1.05)), Limit(.allocations, .value(10))]),
                    .c("C, appsink to appsrc", ["bridge", capture, Media.nowhere]),
                ]
            },
            Comparison(
                "mix-\(users)", "The mix of \(users) users, 5 s", pieces: 500, piece: "step",
                figures: [.load, .cpu, .peak]
            ) { steps in
                let voice =
                    "audiotestsrc is-live=true num-buffers=\(steps) samplesperbuffer=480 ! "
                    + "audio/x-raw,format=S16LE,rate=48000,channels=1 ! queue ! m. "
                return [
                    .product(
                        "MixProbe", "MediaEngine, playback", ["\(users)", "\(steps / 100)"],
                        limits: [Limit(.load, .value(0.02))]),
                    .launch(
                        "gst-launch-1.0, audiomixer",
                        "audiomixer name=m ! fakesink "
                            + String(repeating: voice, count: users)),
                ]
            },
        ]
    }
}
