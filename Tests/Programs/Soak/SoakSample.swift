import CLiveObjects
import Foundation

/// What a process holds.
struct SoakSample {
    /// Resident, in kilobytes: with stacks, with what the heap keeps between blocks, with libraries.
    var memory: Double
    /// Allocated and not freed, in kilobytes.
    var heap: Double
    var descriptors: Double
    /// All but Dispatch's workers.
    var threads: Double
    /// Dispatch's workers that do nothing any more.
    var blocked: Double
    var objects: Double

    /// What the heap keeps for later is given back first: that is no growth.
    ///
    /// - Parameter threads: Looked at before.
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

/// One of the things that must not grow, and how steeply it may.
struct SoakSeries: Sendable {
    let name: String
    let unit: String
    /// In a thousand cycles.
    let limit: Double
    /// In the whole run, on top: what pools and caches take until they have found their size.
    let slack: Double
    let value: @Sendable (SoakSample) -> Double

    static let all = [
        // A cycle that lost one picture of 320×240 would give 115,000.
        SoakSeries(name: "memory", unit: "kB", limit: 100, slack: 4000) { $0.memory },
        SoakSeries(name: "heap", unit: "kB", limit: 30, slack: 1000) { $0.heap },
        SoakSeries(name: "descriptors", unit: "", limit: 0.1, slack: 3) { $0.descriptors },
        // GLib keeps eight idle threads.
        SoakSeries(name: "threads", unit: "", limit: 0.1, slack: 8) { $0.threads },
        SoakSeries(name: "blocked", unit: "", limit: 0.1, slack: 2) { $0.blocked },
        SoakSeries(name: "objects", unit: "", limit: 0.1, slack: 10) { $0.objects },
    ]

    /// Of all, as text; slack in parentheses.
    static var limits: String {
        all.map { series in
            "\(series.name) \(SoakVerdict.short(series.limit)) (\(Int(series.slack)))"
                + (series.unit.isEmpty ? "" : " \(series.unit)")
        }.joined(separator: ", ")
    }
}
