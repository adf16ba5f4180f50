import Foundation
import FuzzSupport

@testable import GStreamerKit
@testable import MediaBridge

@main struct FuzzUntrusted {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// Untrusted strings: a forbidden element is rejected before it is created. An accepted string names files
/// in one directory only, and its printf formats take only a number. No pipeline runs.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    var configuration = PipelineVideoSink.Configuration()
    configuration.untrusted = policy
    do {
        let sink = try PipelineVideoSink(text, configuration: configuration)
        for element in sink.pipeline.elements { check(element, text) }
    } catch {
        let isTooLate = error.element != nil && error.message.contains("is not among the elements")
        guard !isTooLate else { fatalError("made before it was refused: \(text)") }
    }
    guard Fuzzer.wait({ await GStreamer.shutDown() }) else {
        fatalError("a pipeline is stuck: \(text)")
    }
    return 0
}

private func check(_ element: Element, _ text: String) {
    guard let location = element.string("location"), !location.isEmpty else { return }
    let parts = location.split(separator: "%", omittingEmptySubsequences: false)
    if element.pluginName == "multifile", parts.count > 1 {
        let isPlain = parts.count == 2 && parts[1].drop { $0.isASCII && $0.isNumber }.first == "d"
        guard isPlain else { fatalError("printf gets \(location)") }
    }
    let directory = (location as NSString).deletingLastPathComponent
    guard let real = realpath(directory, nil) else { return }
    defer { free(real) }
    let path = String(cString: real) + "/"
    guard path.hasPrefix(policy.directory + "/") else { fatalError("\(location) leads to \(path)") }
}

private let policy: UntrustedPolicy = {
    let directory = NSTemporaryDirectory() + "/mediabridge-fuzz-untrusted"
    try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    do { return try UntrustedPolicy(directory: directory) } catch { fatalError("\(error)") }
}()
