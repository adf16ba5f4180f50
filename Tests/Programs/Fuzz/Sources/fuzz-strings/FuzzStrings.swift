import Foundation
import FuzzSupport
import MediaBridge

@main struct FuzzStrings {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// gst-launch strings, as captures and as outputs of others: parsed or refused, and never the end of the
/// process. What the policy refuses for its words is not parsed, so that no string opens anything here.
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
    // Pipelines go to NULL on threads of their own.
    guard GStreamer.waitForTeardown() else { fatalError("a pipeline is stuck: \(text)") }
    return 0
}

private let policy: UntrustedPolicy = {
    let directory = NSTemporaryDirectory() + "/mediabridge-fuzz"
    try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    do { return try UntrustedPolicy(directory: directory) } catch { fatalError("\(error)") }
}()
