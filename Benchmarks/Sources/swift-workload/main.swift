// The library as a program uses it, for bridge-bench.
//
//   swift-workload each CAPTURE OUTPUT   a closure sees every frame on its way
//   swift-workload look CAPTURE OUTPUT   the same, and the closure reads a pixel of each
//   swift-workload frames CAPTURE        a loop over the capture's frames
import MediaBridge
import Synchronization

/// Keeps the compiler from dropping what a closure reads.
let seen = Atomic<Int>(0)

@Sendable func see(_ frame: VideoFrame) {
    seen.add(frame.width &+ Int(frame.runningTime?.nanoseconds ?? 0), ordering: .relaxed)
}

@Sendable func look(_ frame: VideoFrame) throws {
    let pixel = try frame.withPlanes { planes in
        planes[0].bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    }
    seen.add(Int(pixel), ordering: .relaxed)
}

let words = CommandLine.arguments.dropFirst()
switch (words.first, words.count) {
case ("each", 3):
    try await Bridge.run(capture: words[2], outputs: [words[3]], eachFrame: see)
case ("look", 3):
    try await Bridge.run(capture: words[2], outputs: [words[3]], eachFrame: look)
case ("frames", 2):
    for try await frame in try PipelineVideoSource(words[2]).frames() { see(frame) }
default:
    fatalError("swift-workload each|look CAPTURE OUTPUT, or frames CAPTURE")
}
