import BenchmarkSupport

/// Contestants that do the same work; the one to compare with is C.
struct BenchmarkCase {
    let title: String
    let contestants: [Contestant]
    /// The index of the one that the others are compared with.
    let baseline = 1

    static func all(capture: String, output: String) -> [BenchmarkCase] {
        let bridge = Contestant.sibling("gst-bridge", inMainPackage: true)
        let floor = Contestant.sibling("c-bridge")
        let library = Contestant.sibling("swift-workload")
        let c = Contestant("C, appsink to appsrc", floor, [capture, output])
        return [
            BenchmarkCase(
                title: "A bridge: capture to output",
                contestants: [
                    Contestant(
                        "gst-bridge run", bridge,
                        [
                            "run", "--capture", capture, "--output", output, "--report", "none",
                            "--progress", "never",
                        ]),
                    c,
                    Contestant(
                        "gst-launch-1.0 with a queue", "gst-launch-1.0",
                        ["-q"] + "\(capture) ! queue max-size-buffers=4 ! \(output)".words),
                ]),
            BenchmarkCase(
                title: "A bridge with a closure that sees each frame",
                contestants: [
                    Contestant("Bridge.run, eachFrame", library, ["each", capture, output]), c,
                    Contestant("the same, reading a pixel", library, ["look", capture, output]),
                ]),
            BenchmarkCase(
                title: "A capture alone",
                contestants: [
                    Contestant("for try await in frames()", library, ["frames", capture]),
                    Contestant("C, pulling in a loop", floor, [capture]),
                ]),
        ]
    }
}

extension String {
    var words: [String] { split(separator: " ").map(String.init) }
}
