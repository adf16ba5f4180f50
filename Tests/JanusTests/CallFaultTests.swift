import Foundation
import TestSupport
import Testing

/// Networks that fail under a call.
@Suite(
    .deadline(minutes: 4), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallFaultTests {
    /// Runs a call of alice, beside the server, and bob, across the cable; both send, and bob records.
    ///
    /// Pictures must go both ways again when `fault` returns; bob's files must be whole, and of alice there
    /// is one, since she was there all the time.
    private func survive(
        _ fault: (Call, _ alice: ChildProcess, _ bob: ChildProcess) async throws -> Void
    ) async throws {
        try await Call.run { call in
            let alice = try call.join("alice", sending: ["--output", "fakesink"])
            let bob = try call.join(
                "bob",
                ["--capture", Call.camera, "--record", try call.makeDirectory("of-bob")],
                on: call.network.client)
            try await alice.waitsForPictures(of: "bob")
            try await bob.waitsForPictures(of: "alice")
            try await fault(call, alice, bob)
            try await alice.waitsForPictures(of: "bob")
            try await bob.waitsForPictures(of: "alice")
            let files = try #require(try await bob.report().files)
            _ = try await alice.report()
            #expect(files.count == 1)
            for file in files {
                let probe = try await MediaProbe(of: file.path)
                #expect(probe.video?.frames == file.frames)
                #expect(probe.audio != nil)
            }
        }
    }

    @Test func aCableThatIsOutFor20SecondsInterruptsACallAndEndsNone() async throws {
        try await survive { call, _, bob in
            try await call.network.pullCable()
            try await bob.waits(for: "reconnecting: ")
            try await bob.waitsForProgress(seconds: 20)
            try await call.network.plugCable()
            try await bob.waits(for: "connected again")
        }
    }

    @Test func aFifthOfAllPacketsIsLostForAWhile() async throws {
        try await survive { call, alice, bob in
            for machine in [call.network.server, call.network.client] {
                try await call.network.lose(percent: 20, to: machine)
            }
            try await bob.waitsForProgress(seconds: 10)
            for machine in [call.network.server, call.network.client] {
                try await call.network.lose(percent: 0, to: machine)
            }
        }
    }

    @Test func anotherAddressInterruptsACallAndEndsNone() async throws {
        try await survive { call, _, bob in
            try await call.network.changeAddress(of: call.network.client)
            try await bob.waits(for: "reconnecting: ")
            try await bob.waits(for: "connected again")
        }
    }
}

extension ChildProcess {
    /// Waits until it has told its progress for so long: it does once a second.
    fileprivate func waitsForProgress(seconds: Int) async throws {
        let before = errors.ranges(of: " fps sent  ").count
        try await waitForErrors(to: "run for \(seconds) s more", within: .seconds(3 * seconds)) {
            $0.ranges(of: " fps sent  ").count >= before + seconds
        }
    }
}
