import Dispatch
import Foundation
import FuzzSupport
import MediaBridge

@main struct FuzzRepair {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// Damaged recordings: each is repaired, or rejected quickly for a reason other than a disk stall. The
/// recording itself stays unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: start, count: count))
    let (recording, output) = (directory + "/in", directory + "/out")
    try? FileManager.default.removeItem(atPath: output)
    guard (try? bytes.write(to: URL(fileURLWithPath: recording))) != nil else { return 0 }
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do throws(PipelineError) {
            _ = try await Recordings.repair(
                recording, to: output, stallTimeout: .seconds(5))
        } catch {
            guard error.code != .deadlineExceeded else { fatalError("\(error)") }
            guard !error.message.isEmpty else { fatalError("an error without a word") }
            guard !FileManager.default.fileExists(atPath: output) else {
                fatalError("a file, and an error: \(error)")
            }
        }
        done.signal()
    }
    done.wait()
    guard isUnchanged(recording, bytes) else { fatalError("the recording was changed") }
    guard Fuzzer.wait({ await GStreamer.shutDown() }) else { fatalError("a pipeline is stuck") }
    return 0
}

private func isUnchanged(_ path: String, _ bytes: Data) -> Bool {
    let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    guard size == bytes.count else { return false }
    // Foundation leaks its buffer when a file is empty.
    return bytes.isEmpty || (try? Data(contentsOf: URL(fileURLWithPath: path))) == bytes
}

private let directory: String = {
    let path = NSTemporaryDirectory() + "/mediabridge-fuzz-repair-\(getpid())"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
}()
