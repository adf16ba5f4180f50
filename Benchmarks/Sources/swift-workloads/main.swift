// MediaBridge as a program uses it: the same work as c-workloads does, under the same names.
//
//   swift-workloads each CAPTURE OUTPUT            a closure sees every frame on its way
//   swift-workloads look CAPTURE OUTPUT            the same, and the closure reads a pixel of each
//   swift-workloads frames CAPTURE                 a loop over the capture's frames
//   swift-workloads convert FORMAT CAPTURE         a renderer that asks for a pixel format
//   swift-workloads element PIPELINE               runs a pipeline, in which empty and negative are classes
//   swift-workloads push wrapped|copied FRAMES     1080p pictures of the program's own, to fakesink
//   swift-workloads fanout RENDERERS FRAMES        one capture to many renderers
//   swift-workloads engines COUNT FRAMES           many engines side by side, each with one renderer
//   swift-workloads latency RENDERERS FRAMES RATE  prints the times from push to render, in nanoseconds
//   swift-workloads channel USERS FRAMES           one user sends 30 pictures a second to all others
let words = Array(CommandLine.arguments.dropFirst())
switch (words.first, words.count) {
case ("each", 3): try await bridge(words[1], words[2], see)
case ("look", 3): try await bridge(words[1], words[2], look)
case ("frames", 2): try await readFrames(words[1])
case ("convert", 3): try await convert(to: words[1], words[2])
case ("element", 2): try runElements(words[1])
case ("push", 3): try await push(copies: words[1] == "copied", count: number(words[2]))
case ("fanout", 3): try await fanOut(renderers: number(words[1]), frames: number(words[2]))
case ("engines", 3): try await runEngines(number(words[1]), frames: number(words[2]))
case ("latency", 4):
    try await measureLatency(
        renderers: number(words[1]), frames: number(words[2]), rate: number(words[3]))
case ("channel", 3): try await runChannel(users: number(words[1]), frames: number(words[2]))
default: fatalError("no such workload: \(words)")
}

func number(_ word: String) -> Int {
    guard let number = Int(word), number > 0 else { fatalError("not a number from 1 on: \(word)") }
    return number
}
