/// Frames of 640×480 at 30 fps, sent from one process to others over WebRTC. Measured are the latency from
/// before the encoder to after the decoder, and the CPU load of the processes. Peers run on a test network.
enum WebRTC: Workload {
    static let name = "webrtc"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        let seconds = isFull ? 60 : 20
        return [
            ways(seconds), viewers(seconds), opening(isFull ? 40 : 10), narrowing(isFull ? 12 : 4),
            loss(isFull ? 6 : 2), resending(isFull ? 6 : 2), sync(isFull ? 6 : 2),
        ]
    }

    private static func ways(_ seconds: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-way", "From before the encoder to a picture in another program",
            pieces: 30 * seconds, figures: [.p50, .p95, .p99, .sender, .receiver, .server]
        ) { _ in
            let seconds = "\(seconds)"
            return [
                contestant(
                    "share to a WHEP source, H.264", ["direct", seconds],
                    limits: [Limit(.p50, .value(8e-3)), Limit(.p95, .value(15e-3))]),
                contestant(
                    "Janus, H.264", ["janus", "h264", seconds], needs: "janus",
                    limits: [
                        Limit(.p50, .value(12e-3)), Limit(.p95, .value(25e-3)),
                        Limit(.sender, .value(0.25)), Limit(.receiver, .value(0.15)),
                    ]),
                contestant(
                    "Janus, VP8", ["janus", "vp8", seconds], needs: "janus",
                    limits: [
                        Limit(.p50, .value(12e-3)), Limit(.p95, .value(25e-3)),
                        Limit(.sender, .value(0.25)), Limit(.receiver, .value(0.15)),
                    ]),
                contestant(
                    "Janus, units passed on", ["units", seconds], needs: "janus",
                    limits: [Limit(.sender, .value(0.1)), Limit(.receiver, .value(0.1))]),
                contestant(
                    "share to its page in Chromium", ["page", seconds], needs: "chromium",
                    limits: [Limit(.p50, .value(40e-3))]),
            ]
        }
        comparison.isPaced = true
        return comparison
    }

    private static func viewers(_ seconds: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-viewers", "gst-bridge share, which encodes once", pieces: 30 * seconds,
            figures: [.sender, .receiver]
        ) { _ in
            [1, 12].map { count in
                contestant(
                    "\(count) viewer\(count == 1 ? "" : "s")",
                    ["viewers", "\(count)", "\(seconds)"],
                    limits: count == 1 ? [] : [Limit(.sender, .value(0.5))])
            }
        }
        comparison.isPaced = true
        return comparison
    }

    private static func opening(_ times: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-opening", "From opening the page to its first picture", pieces: times,
            piece: "opening", figures: [.p50, .p95]
        ) { times in
            [
                contestant(
                    "in a Chromium that has had pages", ["first", "warm", "\(times)"],
                    needs: "chromium", limits: [Limit(.p50, .value(0.3))]),
                contestant(
                    "in a new Chromium", ["first", "new", "\(times)"], needs: "chromium",
                    limits: [Limit(.p50, .value(0.3))]),
            ]
        }
        comparison.isPaced = true
        return comparison
    }

    private static func narrowing(_ times: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-narrowing", "Standing still when the network falls from 3 Mbit/s to 600 kbit/s",
            pieces: times, piece: "fall", figures: [.p50, .p95]
        ) { times in
            [
                contestant(
                    "share to its page in Chromium", ["narrow", "\(times)"], needs: "chromium",
                    limits: [Limit(.p50, .value(1.5))])
            ]
        }
        comparison.isPaced = true
        return comparison
    }

    private static func loss(_ times: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-loss", "The longest time without a picture while 3 % of the packets are lost",
            pieces: times, piece: "run", figures: [.p50]
        ) { times in
            [
                contestant(
                    "share to its page in Chromium", ["loss", "\(times)"], needs: "chromium",
                    limits: [Limit(.p50, .value(2))])
            ]
        }
        comparison.isPaced = true
        return comparison
    }

    /// Frames are 33 ms apart; without retransmission a third would be missing.
    private static func resending(_ times: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-resending", "Between recorded pictures while 10 % of the packets are lost",
            pieces: times, piece: "recording", figures: [.p50]
        ) { times in
            [
                contestant(
                    "join, by Janus", ["call-loss", "\(times)"], needs: "janus",
                    limits: [Limit(.p50, .value(42e-3))])
            ]
        }
        comparison.isPaced = true
        return comparison
    }

    private static func sync(_ times: Int) -> Comparison {
        var comparison = Comparison(
            "webrtc-sync", "Between a flash and its beep in a recording", pieces: times,
            piece: "recording", figures: [.p50, .p99]
        ) { times in
            [
                contestant(
                    "share to record, by WHEP", ["sync", "play", "\(times)"],
                    limits: [Limit(.p99, .value(40e-3))]),
                contestant(
                    "run to receive, by WHIP", ["sync", "receive", "\(times)"],
                    limits: [Limit(.p99, .value(40e-3))]),
                contestant(
                    "join, by Janus", ["call-sync", "0", "\(times)"], needs: "janus",
                    limits: [Limit(.p99, .value(40e-3))]),
                contestant(
                    "the same with 3 % loss", ["call-sync", "3", "\(times)"], needs: "janus",
                    limits: [Limit(.p99, .value(40e-3))]),
            ]
        }
        comparison.isPaced = true
        return comparison
    }

    private static func contestant(
        _ name: String, _ words: [String], needs need: String? = nil, limits: [Limit] = []
    ) -> Contestant {
        var contestant = Contestant.product("webrtc-bench", name, words, limits: limits)
        contestant.probe = [contestant.program, "check"] + (need.map { [$0] } ?? [])
        return contestant
    }
}
