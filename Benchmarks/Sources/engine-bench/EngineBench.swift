// What the engine costs, against GStreamer in C.
//
//   engine-bench [--seconds 10] [--frames 100000] [--rounds 5]
//
// Latency: 1080p pictures are pushed by reference at 30 a second; measured is the time from the push to
// each of four renderers, in the engine and in C (appsrc ! tee ! 4 appsink), in turn.
//
// Fan-out: pictures go as fast as they are taken from one capture to 1, 4 and 16 renderers, in the engine
// and in GStreamer (tee ! queue ! fakesink), in turn. Measured are the CPU time and the peak of resident
// memory of the whole process; what one more renderer costs is the slope from 1 to 16.
import ArgumentParser
import BenchmarkSupport
import Foundation

@main
struct EngineBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine-bench", abstract: "What the engine costs, against GStreamer in C.")

    @Option(help: "Seconds of each latency run.")
    var seconds = 10

    @Option(help: "Frames of each fan-out run.")
    var frames = 100_000

    @Option(help: "Rounds that count.")
    var rounds = 5

    func run() throws {
        try measureLatency(sinks: 4)
        try measureFanOut()
    }

    private var sides: [(String, String)] {
        [
            ("MediaEngine", Contestant.sibling("engine-workload")),
            ("C", Contestant.sibling("c-fanout")),
        ]
    }

    private func measureLatency(sinks: Int) throws {
        print(
            "From push to render, 1080p at 30 a second, \(sinks) renderers, \(rounds) rounds of \(seconds) s"
        )
        let file = NSTemporaryDirectory() + "engine-bench-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        var quantiles: [[(Double, Double)]] = sides.map { _ in [] }
        for _ in 0..<rounds {
            for (side, (name, program)) in sides.enumerated() {
                let contestant = Contestant(
                    name, program, ["latency", "\(sinks)", "\(seconds * 30)"])
                _ = try contestant.run(output: file)
                let times = try String(contentsOfFile: file, encoding: .utf8)
                    .split(separator: "\n").compactMap { Double($0) }.map { $0 / 1000 }
                quantiles[side].append((times.quantile(0.5), times.quantile(0.99)))
            }
        }
        for ((name, _), quantiles) in zip(sides, quantiles) {
            let (p50, p99) = (quantiles.map(\.0).median, quantiles.map(\.1).median)
            print(String(format: "  %-12@ p50 %7.1f µs   p99 %7.1f µs", name as NSString, p50, p99))
        }
        print()
    }

    private func measureFanOut() throws {
        let counts = [1, 4, 16]
        print("Fan-out, 1080p by reference, \(frames) frames, \(rounds) rounds")
        var runs = [String: [Int: [Usage]]]()
        for round in 0...rounds {
            for sinks in counts {
                for (name, program) in sides {
                    let usage = try Contestant(name, program, ["fanout", "\(sinks)", "\(frames)"])
                        .run()
                    if round > 0 { runs[name, default: [:]][sinks, default: []].append(usage) }
                }
            }
        }
        for (name, _) in sides {
            let all = runs[name] ?? [:]
            func cpu(_ sinks: Int) -> Double { (all[sinks] ?? []).map(\.cpu).median }
            func peak(_ sinks: Int) -> Double {
                (all[sinks] ?? []).map { Double($0.peakKilobytes) }.median
            }
            for sinks in counts {
                print(
                    String(
                        format: "  %-12@ %2d renderers: %6.2f µs CPU a frame, %6.1f MB at most",
                        name as NSString, sinks, cpu(sinks) / Double(frames) * 1e6,
                        peak(sinks) / 1024))
            }
            print(
                String(
                    format: "  %-12@ one more:     %6.2f µs CPU a frame, %6.2f MB",
                    name as NSString, (cpu(16) - cpu(1)) / 15 / Double(frames) * 1e6,
                    (peak(16) - peak(1)) / 15 / 1024))
        }
    }
}
