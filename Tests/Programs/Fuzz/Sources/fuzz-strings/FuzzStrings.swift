import Foundation
import FuzzSupport
import MediaBridge

@main struct FuzzStrings {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// Untrusted gst-launch strings, as captures and as outputs: each is parsed or rejected, and none may
/// crash the process. A string with words that the policy rejects is not parsed, so no string opens a
/// resource here.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let first = bytes.first else { return 0 }
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    if first % 2 == 0 {
        var configuration = PipelineVideoSource.Configuration()
        configuration.untrusted = policy
        _ = try? PipelineVideoSource(text, configuration: configuration)
    } else {
        var configuration = PipelineVideoSink.Configuration()
        configuration.untrusted = policy
        _ = try? PipelineVideoSink(text, configuration: configuration)
    }
    // Pipelines go to NULL on background threads.
    guard Fuzzer.wait({ await GStreamer.shutDown() }) else {
        fatalError("a pipeline is stuck: \(text)")
    }
    return 0
}

private let policy: UntrustedPolicy = {
    let directory = NSTemporaryDirectory() + "/mediabridge-fuzz"
    try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    do { return try UntrustedPolicy(directory: directory) } catch { fatalError("\(error)") }
}()
