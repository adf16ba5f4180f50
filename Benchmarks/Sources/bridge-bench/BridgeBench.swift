// What the bridge costs, against the same bridge in C.
//
//   bridge-bench [--frames 300000] [--rounds 5] [--size 1920x1080]
//
// Each contestant is a process of its own and does the same work: it takes frames out of a capture, in
// front of which there is one picture that imagefreeze passes on by reference, as fast as they are
// taken, so that nothing is measured but the way through the program. The contestants run in turn,
// A B C A B C …, after a warm-up round that does not count, so that a machine that gets slower gets
// slower for all of them. What counts is the CPU time of the whole process, user and system, as wait4
// tells it: start-up, GStreamer's own work and wake-ups of threads are in it, on all sides.
//
// Ratios are taken against C *within a round*, and their median over the rounds is the result. The
// absolute figures depend on the machine, and more than on anything else on what it costs there to wake
// a thread; on a virtual machine that changes from minute to minute.
//
// A contestant that fails ends the benchmark: there is no figure for work that was not done.
import ArgumentParser
import BenchmarkSupport

@main
struct BridgeBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge-bench",
        abstract: "What the bridge costs, against the same bridge in C.")

    @Option(help: "Frames in each run.")
    var frames = 300_000

    @Option(help: "Rounds that count.")
    var rounds = 5

    @Option(help: ArgumentHelp("The picture's size.", valueName: "widthxheight"))
    var size = "1920x1080"

    func validate() throws {
        guard frames > 0, rounds > 0 else {
            throw ValidationError("--frames and --rounds take numbers from 1 on")
        }
        guard size.split(separator: "x").compactMap({ Int($0) }).count == 2 else {
            throw ValidationError("--size takes WIDTHxHEIGHT")
        }
    }

    func run() throws {
        let pixels = size.split(separator: "x")
        let capture =
            "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=\(pixels[0]),"
            + "height=\(pixels[1]),framerate=30/1 ! imagefreeze num-buffers=\(frames)"
        let cases = BenchmarkCase.all(capture: capture, output: "fakesink sync=false")
        print("\(frames) frames of \(size), \(rounds) rounds")
        var runs: [[[Usage]]] = cases.map { $0.contestants.map { _ in [] } }
        for round in 0...rounds {
            for (c, benchmark) in cases.enumerated() {
                for (i, contestant) in benchmark.contestants.enumerated() {
                    let usage = try contestant.run()
                    if round > 0 { runs[c][i].append(usage) }
                }
            }
        }
        for (benchmark, runs) in zip(cases, runs) {
            print()
            print(ResultTable(benchmark, runs: runs, frames: frames))
        }
    }
}
