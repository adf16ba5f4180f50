internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import MediaBridge

struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl",
        abstract: "Change elements and recordings while they run.",
        discussion: """
            Sends a request to a run or record with --control <path>, and prints the answer. Requests for the \
            elements of captures and outputs:

              set <element>.<property> <value>   Set a property, and print the value that it has then.
              get <element>[.<property>]         Print a value, or all values of an element.
              properties [<element>]             Print types, permitted values, defaults and values.
              reload <file>                      Load a version of a plugin, and replace its filters in the pipelines.

            <element> is the name in the pipeline (name=..., or blur0), or the factory if only one element has it \
            (blur). <property> may be that of a pad: mixer.sink_0::xpos. Values are those of gst-launch-1.0.

            Requests for a recording are start, stop, split, pause, resume, mark [<name>], replay [<duration>], \
            status and watch. Their answer is one line of JSON; after watch, a line follows for each event of a \
            detector and for each file, until the end. The exit status is 1 if the request failed.

            Examples:
              gst-bridge ctl /tmp/cam.sock set blur.radius 5
              gst-bridge ctl /tmp/cam.sock properties blur
              gst-bridge ctl /tmp/cam.sock start
              gst-bridge ctl /tmp/cam.sock mark second goal
              gst-bridge ctl /tmp/cam.sock watch
            """)

    @Argument(help: "Socket of the run or recording (e.g. /tmp/cam.sock).", completion: .file())
    var path: String

    // A value may begin with a minus sign.
    @Argument(
        parsing: .allUnrecognized, help: "Request (e.g. status, mark goal, set blur.radius 5).",
        completion: .list(
            BridgeControl.Verb.allCases.map(\.rawValue) + RecorderControl.verbs + ["watch"]))
    var request: [String]

    @Flag(
        help: """
            Print the answer as one JSON object on standard output. Default: text for set, get and properties.
            """)
    var json = false

    func run() throws {
        if request == ["watch"] {
            let end = try ControlSocket.watch(path) { line in
                print(line)
                fflush(nil)
            }
            if (try? JSONDecoder().decode(BridgeControl.Answer.self, from: Data(end.utf8)))?.ok
                != true
            {
                throw ExitCode(1)
            }
            return
        }
        let line = try ControlSocket.ask(path, request.joined(separator: " "))
        guard
            let answer = try? JSONDecoder().decode(
                BridgeControl.Answer.self, from: Data(line.utf8))
        else {
            print(line.printable)
            throw ExitCode(1)
        }
        if !json, let verb = BridgeControl.Verb(rawValue: request[0]) {
            if let error = answer.error { Terminal.log(error) }
            for line in lines(answer.properties ?? [], verb) { print(line.printable) }
        } else {
            print(line)
        }
        if !answer.ok { throw ExitCode(1) }
    }

    private func lines(
        _ properties: [ElementProperty], _ verb: BridgeControl.Verb
    ) -> [String] {
        properties.map { property in
            let value = property.text ?? "NULL"
            let details = [
                property.type, property.values, property.defaultText.map { "default \($0)" },
                property.isSettable == true ? "can change now" : property.refusal,
            ].compactMap(\.self).joined(separator: "; ")
            return switch verb {
            case .set: "\(property.element).\(property.name)=\(value)"
            case .get: properties.count == 1 ? value : "\(property.name)=\(value)"
            case .properties, .reload: "\(property.element).\(property.name)=\(value)  (\(details))"
            }
        }
    }
}
