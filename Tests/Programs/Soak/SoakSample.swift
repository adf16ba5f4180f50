import CLiveObjects
import Foundation

/// The resources of a process.
struct SoakSample {
    /// Resident memory in kilobytes, including stacks, free heap memory and libraries.
    var memory: Double
    /// Allocated heap memory in kilobytes.
    var heap: Double
    var descriptors: Double
    /// All threads except the worker threads.
    var threads: Double
    /// Worker threads that are permanently blocked.
    var blocked: Double
    var objects: Double

    /// Returns the heap's free memory to the system first, because it is no growth.
    ///
    /// - Parameter threads: Sampled before.
    static func now(_ threads: SoakThreads) -> SoakSample {
        soak_trim_heap()
        let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return SoakSample(
            memory: SoakThreads.status()["VmRSS:"].flatMap { Double($0) } ?? 0,
            heap: Double(soak_heap_in_use()) / 1024,
            descriptors: Double(descriptors?.count ?? 0), threads: Double(threads.others),
            blocked: Double(threads.blocked), objects: Double(LiveObjects.count))
    }
}

/// A resource that must not grow, and the permitted rate.
struct SoakSeries: Sendable {
    let name: String
    let unit: String
    /// Per thousand cycles.
    let limit: Double
    /// For the whole run, in addition: the growth of pools and caches to their final size.
    let slack: Double
    let value: @Sendable (SoakSample) -> Double

    static let all = [
        // A cycle that leaked one frame of 320×240 would give 115,000.
        SoakSeries(name: "memory", unit: "kB", limit: 100, slack: 4000) { $0.memory },
        SoakSeries(name: "heap", unit: "kB", limit: 30, slack: 1000) { $0.heap },
        SoakSeries(name: "descriptors", unit: "", limit: 0.1, slack: 3) { $0.descriptors },
        // GLib keeps up to eight idle threads.
        SoakSeries(name: "threads", unit: "", limit: 0.1, slack: 8) { $0.threads },
        SoakSeries(name: "blocked", unit: "", limit: 0.1, slack: 2) { $0.blocked },
        SoakSeries(name: "objects", unit: "", limit: 0.1, slack: 10) { $0.objects },
    ]

    /// All limits as text, with the slack in parentheses.
    static var limits: String {
        all.map { series in
            "\(series.name) \(SoakVerdict.short(series.limit)) (\(Int(series.slack)))"
                + (series.unit.isEmpty ? "" : " \(series.unit)")
        }.joined(separator: ", ")
    }
}
