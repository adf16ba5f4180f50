internal import ArgumentParser
internal import FoundationEssentials
internal import MediaBridge

struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl", abstract: "Send a request to a recording, and print its answer.",
        discussion: """
            The recording runs with --control <path>. Requests are start, stop, split, pause, resume, \
            mark [<name>], replay [<duration>] and status. The answer is one line of JSON. The exit status \
            is 1 if the request failed.

            Examples:
              gst-bridge ctl /tmp/cam.sock start
              gst-bridge ctl /tmp/cam.sock mark second goal
            """)

    @Argument(help: "Socket of the recording (e.g. /tmp/cam.sock).", completion: .file())
    var path: String

    @Argument(
        help: "Request (e.g. status, mark goal).",
        completion: .list([
            "start", "stop", "split", "pause", "resume", "mark", "replay", "status",
        ]))
    var request: [String]

    func run() throws {
        let answer = try ControlSocket.ask(path, request.joined(separator: " "))
        print(answer)
        struct Outcome: Decodable { let ok: Bool }
        let outcome = try? JSONDecoder().decode(Outcome.self, from: Data(answer.utf8))
        if outcome?.ok != true { throw ExitCode(1) }
    }
}
