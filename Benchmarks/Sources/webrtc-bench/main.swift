// Latency and cost of WebRTC between processes, on a test network. The files in `Rig` are links into
// Tests/TestSupport.
//
//   webrtc-bench check [janus|chromium]     fails, with the reason, if a row cannot be measured
//   webrtc-bench direct SECONDS             gst-bridge share to a player
//   webrtc-bench janus h264|vp8 SECONDS     an engine to another engine, through Janus
//   webrtc-bench units SECONDS              the same with encoded frames that are forwarded
//   webrtc-bench page SECONDS               gst-bridge share to the frame callback of its page
//   webrtc-bench first new|warm TIMES       from the opening of the page to its first frame
//   webrtc-bench narrow TIMES               how long the page freezes when its network slows down
//   webrtc-bench loss TIMES                 the longest time without a frame at 3 % packet loss
//   webrtc-bench sync play|receive TIMES    the offset between each flash and its beep
//   webrtc-bench call-sync PERCENT TIMES    the same through Janus, with packet loss
//   webrtc-bench call-loss TIMES            the mean time between frames at 10 % packet loss
//   webrtc-bench viewers COUNT SECONDS      gst-bridge share to many players
//
// They print times in nanoseconds, one per line, and shares of a core, `load sender 0.12`. They start this
// program in further roles:
//
//   webrtc-bench camera SOCKET              writes frames into shared memory
//   webrtc-bench send SERVER h264|vp8|FILM  an engine that sends
//   webrtc-bench receive SERVER pictures|units
//   webrtc-bench watch URL                  a player that decodes
//   webrtc-bench players COUNT URL          players that do not
import Foundation

let words = Array(CommandLine.arguments.dropFirst())
do {
    switch (words.first, words.count) {
    case ("check", _): check(words.dropFirst().first)
    case ("direct", 2): try await measureDirect(seconds: number(words[1]))
    case ("janus", 3): try await measureJanus(words[1], seconds: number(words[2]))
    case ("units", 2): try await measureJanus(nil, seconds: number(words[1]))
    case ("page", 2): try await measurePage(seconds: number(words[1]))
    case ("first", 3):
        try await measureFirstPicture(times: number(words[2]), isBrowserNew: words[1] == "new")
    case ("narrow", 2): try await measureNarrowing(times: number(words[1]))
    case ("loss", 2): try await measureLoss(times: number(words[1]))
    case ("sync", 3):
        try await measureSync(times: number(words[2]), isReceived: words[1] == "receive")
    case ("call-sync", 3):
        try await measureCallSync(times: number(words[2]), losing: Double(words[1]) ?? 0)
    case ("call-loss", 2): try await measureCallLoss(times: number(words[1]))
    case ("viewers", 3):
        try await measureViewers(count: number(words[1]), seconds: number(words[2]))
    case ("camera", 2): try await fillSharedMemory(at: words[1])
    case ("send", 3): try await send(to: words[1], words[2])
    case ("receive", 3): try await receive(from: words[1], isDecoded: words[2] == "pictures")
    case ("watch", 2): try await watch(words[1])
    case ("players", 3): try await play(number(words[1]), words[2])
    default: fatalError("no such measurement: \(words)")
    }
} catch {
    // Avoids the stack trace of an error at the top level.
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}

func number(_ word: String) -> Int {
    guard let number = Int(word), number > 0 else { fatalError("not a number from 1 on: \(word)") }
    return number
}
