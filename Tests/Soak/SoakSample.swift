import CLiveObjects
import Foundation

/// What a process holds.
struct SoakSample {
    /// In kilobytes.
    var memory: Double
    var descriptors: Double
    var threads: Double
    var objects: Double

    /// What the heap keeps for later is given back first: that is no growth.
    static var now: SoakSample {
        soak_trim_heap()
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func field(_ name: String) -> Double {
            status.split(separator: "\n").first { $0.hasPrefix(name) }?
                .split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0
        }
        let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return SoakSample(
            memory: field("VmRSS:"), descriptors: Double(descriptors?.count ?? 0),
            threads: field("Threads:"), objects: Double(LiveObjects.count))
    }
}

/// One of the things that must not grow, and how steeply it may.
struct SoakSeries: Sendable {
    let name: String
    let unit: String
    /// In a thousand cycles. Noise alone gives a line some slope.
    let limit: Double
    let value: @Sendable (SoakSample) -> Double

    static let all = [
        // A cycle that lost one picture of 320×240 would give 115,000.
        SoakSeries(name: "memory", unit: "kB", limit: 8000) { $0.memory },
        SoakSeries(name: "descriptors", unit: "", limit: 1) { $0.descriptors },
        SoakSeries(name: "threads", unit: "", limit: 2) { $0.threads },
        SoakSeries(name: "objects", unit: "", limit: 5) { $0.objects },
    ]
}
