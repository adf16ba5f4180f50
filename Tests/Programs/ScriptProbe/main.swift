// A typical first program: code at the top level. There Swift keeps the iterator of every loop that was left
// for the lifetime of the process.
import Glibc
import MediaBridge

let source = try PipelineVideoSource(
    "videotestsrc ! video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1")
var first: [MediaTime?] = []
for try await frame in source.frames() {
    first.append(frame.runningTime)
    if first.count == 3 { break }
}
var second: [MediaTime?] = []
for try await frame in source.frames() {
    second.append(frame.runningTime)
    if second.count == 3 { break }
}
print("the same twice: \(first == second), frames: \(second.count)")
try await source.stop()
print("waiting after the stop: \(source.statistics.waiting)")

let report = try await Bridge.run(
    capture: "videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=16,height=16",
    outputs: ["fakesink"], stopOn: [.interrupt, .terminate]
) { frame in
    print("runs, \(frame.format)")
    fflush(nil)
}
print(report)
