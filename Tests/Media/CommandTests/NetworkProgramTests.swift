import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge` has no network code, and replaces itself with `gst-bridge-network`.
    @Suite(.hangGuard) struct NetworkProgramTests {
        private static let commands = ["share", "receive", "host", "join", "token"]
        private static let name = "gst-bridge-network"

        /// Runs a copy of the command in a separate directory.
        private func run(
            _ arguments: [String], path: String = "/usr/bin:/bin",
            prepare: (TemporaryDirectory) throws -> Void = { _ in }
        ) async throws -> ChildProcess.Result {
            try await withTemporaryDirectory { directory in
                let copy = directory.file("gst-bridge")
                // Copy in another process: the copy cannot be started while a fork of this process
                // has it open.
                try await Tool.check("cp", [try Tool.gstBridge, copy])
                try prepare(directory)
                return try await Tool.run(
                    copy, arguments,
                    environment: ["PATH": path.replacing("DIRECTORY", with: directory.path)])
            }
        }

        @Test(arguments: commands.map { [$0, "--help"] } + commands.map { ["help", $0] })
        func networkCommandShowsItsOwnHelp(arguments: [String]) async throws {
            let ended = try await GstBridge.run(arguments)
            let command = arguments.first { $0 != "help" } ?? ""
            #expect(ended.status == 0)
            #expect(ended.output.contains("gst-bridge \(command)"), "\(ended.output)")
        }

        @Test func theHelpListsTheCommandsOfBothPrograms() async throws {
            let help = try await GstBridge.run(["--help"]).output
            for command in Self.commands + [
                "run", "record", "repair", "list", "inspect", "clip", "snapshot", "doctor",
            ] {
                #expect(help.contains("\n  \(command)  "), "\(command)")
            }
        }

        @Test(arguments: [
            ["share"], ["help", "join"], ["run", "--capture", "whep:http://127.0.0.1:1/x"],
            ["run", "--capture", "videotestsrc", "--output", "whip:http://127.0.0.1:1/x"],
        ])
        func missingProgramErrorNamesItsBuildCommand(arguments: [String]) async throws {
            let ended = try await run(arguments)
            #expect(ended.status == 1)
            #expect(ended.errors.contains("\(Self.name) is needed for "), "\(ended.errors)")
            #expect(ended.errors.contains("apt install \(Self.name)"), "\(ended.errors)")
            #expect(ended.errors.contains("make network"), "\(ended.errors)")
        }

        @Test func theProgramIsFoundOnThePath() async throws {
            let ended = try await run(["token", "--help"], path: "DIRECTORY/bin:/usr/bin") {
                try FileManager.default.createDirectory(
                    atPath: $0.file("bin"), withIntermediateDirectories: false)
                try FileManager.default.createSymbolicLink(
                    atPath: $0.file("bin/\(Self.name)"),
                    withDestinationPath: try Tool.built(Self.name))
            }
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.contains("gst-bridge token"))
        }

        @Test(
            .disabled(
                if: Sanitizer.isActive, "sanitizers look into processes: the sandbox forbids it"))
        func bothProgramsRefuseAnUntrustedAddress() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run([
                    "run", "--untrusted", directory.path, "--capture",
                    "whep:http://127.0.0.1:1/x", "--output", "fakesink",
                ])
                #expect(ended.status == 1)
                #expect(
                    ended.errors.contains("an untrusted string cannot connect to a server"),
                    "\(ended.errors)")
            }
        }

        @Test(arguments: [
            [
                "run", "--capture", "videotestsrc", "--output",
                "whip:http://127.0.0.1:1/x SECRET extra",
            ],
            ["run", "--capture", "whep:http://127.0.0.1:1/x SECRET extra", "--output", "fakesink"],
            ["join", "room", "--user", "anna", "--server", "ws://user:SECRET@127.0.0.1:1"],
            ["join", "room", "--user", "anna", "--server", "http://127.0.0.1:1/?token=SECRET"],
        ])
        func errorsContainNoSecret(arguments: [String]) async throws {
            let ended = try await GstBridge.run(arguments)
            #expect(ended.status == 1)
            #expect(!ended.errors.contains("SECRET") && !ended.errors.isEmpty, "\(ended.errors)")
        }

        /// The command contains no NIO, no BoringSSL and no peer connections.
        @Test func coreCommandHasNoNetworkCode() async throws {
            let symbols = try await Tool.check("nm", [try Tool.gstBridge])
            for module in ["NIOPosix", "CNIOBoringSSL", "MediaBridgeWebRTC", "MediaBridgeJanus"] {
                #expect(!symbols.contains(module), "\(module)")
            }
        }
    }
}
