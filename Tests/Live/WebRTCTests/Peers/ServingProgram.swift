import Foundation
import TestSupport
import Testing

/// `gst-bridge share` or `gst-bridge receive` on a machine of a test's network, with the token `tok`.
struct ServingProgram {
    static let token = "tok"

    let process: ChildProcess
    private let port: Int
    /// `http://10.77.0.1:8080`
    let origin: String

    /// Starts the program, and waits until it listens.
    init(
        _ arguments: [String], on machine: NetworkNamespace, port: Int = 8080,
        environment: [String: String] = [:]
    ) async throws {
        self.port = port
        origin = "http://\(machine.address):\(port)"
        process = try machine.start(
            Tool.gstBridge,
            arguments + [
                "--listen", "\(machine.address):\(port)", "--token", Self.token,
                "--report", "json", "--progress", "always",
            ], environment: environment.merging(["DISPLAY": ""]) { $1 })
        try await process.waitForErrors(to: "print an address") { $0.contains("http://") }
    }

    /// The URL of the page, including the token.
    var page: String { "\(origin)/#token=\(Self.token)" }

    /// The URL of the page for browsers that use a camera.
    func cameraPage(name: String) -> String {
        "http://server.localhost:\(port)/?name=\(name)#token=\(Self.token)"
    }

    /// Waits until the latest progress line has this prefix.
    func waitForProgress(_ beginning: String) async throws {
        try await process.waitForErrors(to: "report \"\(beginning)\"") { errors in
            errors.split(separator: "\n").last { $0.contains(" fps  ") }?.hasPrefix(beginning)
                == true
        }
    }

    /// Waits until the progress lines have reported `count` more frames.
    func waitForPictures(_ count: Int) async throws {
        let enough = Self.pictures(in: process.errors) + Double(count)
        try await process.waitForErrors(to: "report \(count) pictures") {
            Self.pictures(in: $0) >= enough
        }
    }

    /// The program prints a progress line at most once a second.
    private static func pictures(in text: String) -> Double {
        text.matches(of: #/  ([0-9.]+) fps  /#).reduce(0) { $0 + (Double($1.1) ?? 0) }
    }

    /// Waits until the recording of a sender has its first frame.
    func waitForRecording(of name: String) async throws {
        try await process.waitForErrors(to: "record \(name)") {
            $0.split(separator: "\n").contains {
                $0.contains("recording /") && $0.contains("/\(name)-")
            }
        }
    }

    /// Kills the program, and waits until it has fully exited.
    func kill() async throws {
        process.send(signal: SIGKILL)
        _ = try await process.end()
    }

    /// Ends the program as Ctrl-C does.
    func end() async throws -> Report {
        process.send(signal: SIGINT)
        let result = try await process.end()
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    /// The output of `--report json`.
    struct Report: Decodable {
        struct Counts: Decodable {
            let frames: Int
            let dropped: Int
            let packets: Int?
            let lostPackets: Int?
        }
        struct File: Decodable {
            let path: String
            let frames: Int
        }
        let captures: [String: Counts]
        let outputs: [String: Counts]
        let files: [File]?
        let ended: String
    }
}

extension NumberedPictures {
    /// A capture string for these pictures and a tone.
    var sourceWithSound: String {
        "\(source) ! appsink name=video "
            + "audiotestsrc is-live=true ! audioconvert ! appsink name=audio"
    }
}

extension ServingProgram.Report.File {
    /// Expects numbered pictures in order and with correct colours, as many as were reported, and sound.
    ///
    /// - Parameter mean: The permitted colour error.
    func check(mean: Double = 8, hasSound: Bool = true) async throws {
        let readings = try await NumberedPictures.readings(of: path)
        #expect(!readings.isEmpty, "\(path)")
        #expect(readings.count == frames, "\(path)")
        #expect(readings.map(\.number).areInOrder(), "\(path) \(readings.map(\.number))")
        #expect(readings.allSatisfy { $0.mean < mean }, "\(path) \(readings.map(\.mean))")
        let audio = try await MediaProbe(of: path).audio
        #expect(audio?.codec == (hasSound ? "opus" : nil), "\(path)")
    }
}
