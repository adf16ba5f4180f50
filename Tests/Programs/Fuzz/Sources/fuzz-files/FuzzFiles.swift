import FuzzSupport

@testable import MediaBridge

@main struct FuzzFiles {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// Pipeline files: each is parsed or rejected with an error message, and none may crash the process. The
/// first line is the value of every variable.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let end = bytes.firstIndex(of: 0x0a) ?? 0
    let value = String(decoding: bytes[..<end], as: UTF8.self)
    let yaml = String(decoding: bytes[end...], as: UTF8.self)
    do throws(PipelineError) {
        let file = try PipelineFile(yaml: yaml, path: "fuzz.yaml")
        var values: [String: String] = [:]
        for variable in file.variables { values[variable.name] = value }
        _ = try file.plan()
        _ = try file.plan(setting: values)
    } catch {
        guard !error.message.isEmpty else { fatalError("an error without a word") }
    }
    return 0
}
