import Foundation
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// Escapes that directory rules by themselves would permit. Each is also tried without its
    /// guard.
    @Suite(
        .hangGuard,
        .enabled(if: Sandbox.kernelVersion != nil, "this kernel has no Landlock"),
        .disabled(if: Sanitizer.isActive, "sanitizers look into processes: the sandbox forbids it"))
    struct SandboxAttackTests {
        private func probe(
            _ arguments: [String], environment: [String: String] = [:]
        ) async throws -> [String] {
            let result = try await Tool.run(
                Tool.built("SandboxProbe"), arguments, environment: environment)
            #expect(result.status == 0, "\(result.errors)")
            return result.output.split(separator: "\n").map(String.init)
        }

        /// Expects the attempts to fail with only the system call filter, where no newer kernel's
        /// Landlock helps, and in the complete sandbox.
        private func expectGuarded(
            _ box: Box, _ attempts: [String], control: Bool = true
        ) async throws {
            if control {
                for line in try await probe(["--nothing"] + attempts) {
                    #expect(line.hasSuffix(": done"), "no attack: \(line)")
                }
            }
            for place in ["--calls", box.path] {
                let said = try await probe([place] + attempts).filter { !$0.hasPrefix("threads") }
                #expect(said.count == attempts.count)
                for line in said {
                    #expect(line.hasSuffix("Permission denied"), "\(place): \(line)")
                }
            }
        }

        @Test func readOnlyFilesStayUnchanged() async throws {
            try await withBox { box in
                // The file is readable in the sandbox, but outside the directory.
                let file = try box.base.write("as it was", to: "out/readable")
                let attempts = ["attack-mode=\(file)", "attack-attribute=\(file)"]
                let said = try await probe(["--calls"] + attempts + ["attack-flags=\(file)"])
                #expect(said.allSatisfy { $0.hasSuffix("Permission denied") }, "\(said)")
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
                #expect((mode as? Int ?? 0) & 0o7000 == 0)
                let before = try await probe(["--nothing", "attack-mode=\(file)"])
                #expect(before == ["attack-mode: done"])
            }
        }

        /// Linux truncates a file that is opened read-only with O_TRUNC, and before kernel 6.2
        /// Landlock cannot prevent it.
        @Test(arguments: ["attack-empty-reading", "attack-empty-neither"])
        func readOnlyFileIsNotTruncated(attack: String) async throws {
            try await withBox { box in
                let file = try box.base.write("as it was", to: "out/readable")
                #expect(
                    try await probe(["--calls", "\(attack)=\(file)"])
                        == ["\(attack): Permission denied"])
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "as it was")
                #expect(try await probe(["--nothing", "\(attack)=\(file)"]) == ["\(attack): done"])
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "")
            }
        }

        @Test func setuidFilesCannotBeCreated() async throws {
            try await withBox { box in
                let attempts = [
                    "attack-set-user-file=\(box.path)/a", "attack-set-user-node=\(box.path)/b",
                ]
                try await expectGuarded(box, attempts, control: false)
                #expect(!FileManager.default.fileExists(atPath: "\(box.path)/a"))
                for line in try await probe(["--nothing"] + attempts) {
                    #expect(line.hasSuffix(": done"), "no attack: \(line)")
                }
            }
        }

        @Test func processesShareNoMemoryMessagesOrKeys() async throws {
            try await withBox { box in
                try await expectGuarded(
                    box, ["attack-memory=0", "attack-messages=0"])
                // Some containers have no keys at all.
                try await expectGuarded(box, ["attack-keys=0"], control: false)
            }
        }

        @Test func otherProcessesOfTheUserAreOutOfReach() async throws {
            try await withBox { box in
                let pid = ProcessInfo.processInfo.processIdentifier
                try await expectGuarded(
                    box, ["attack-signal=\(pid)", "attack-pipe=\(pid)", "attack-limits=\(pid)"])
                let child = try ChildProcess("sleep", ["60"])
                try await expectGuarded(box, ["attack-priority=\(child.pid)"])
                child.send(signal: SIGKILL)
                _ = try await child.end()
                try await expectGuarded(box, ["attack-world=0"], control: false)
            }
        }

        @Test func memoryAndEnvironmentOfOtherProcessesAreUnreadable() async throws {
            try await withBox { box in
                let pid = ProcessInfo.processInfo.processIdentifier
                let attempts = ["environ", "maps"].map {
                    "read=/proc/\(pid)/\($0)"
                }
                #expect(
                    try await probe(["--nothing"] + attempts).allSatisfy { $0 == "read: done" })
                let said = try await probe([box.path] + attempts + ["read=/proc/self/maps"])
                #expect(said.prefix(2).allSatisfy { $0 == "read: Permission denied" }, "\(said)")
                #expect(said.dropFirst(2).first == "read: done", "of itself it may ask")
            }
        }

        @Test func allCapabilitiesAreDropped() async throws {
            try await withBox { box in
                let said = try await probe([box.path, "capabilities=0"])
                #expect(said == ["capabilities: none", "threads: inside"])
            }
        }

        @Test func environmentVariablesAreAllowedByFullName() async throws {
            try await withBox { box in
                let secrets = [
                    "G_TOKEN", "GST_PASSWORD", "LANGCHAIN_API_KEY", "LC_SECRET", "TZTOKEN",
                    "PATH_TO_KEY", "HOMEBREW_GITHUB_API_TOKEN", "TERMINAL_KEY", "ORC_KEY",
                    "ASAN_KEY", "LD_PRELOAD",
                ]
                var environment = Dictionary(uniqueKeysWithValues: secrets.map { ($0, "") })
                environment["LC_NUMERIC"] = "C"
                let names = secrets + ["LC_NUMERIC", "PATH"]
                let said = try await probe(
                    [box.path] + names.map { "environment=\($0)" }, environment: environment)
                #expect(
                    said.dropLast() == secrets.map { _ in "environment: none" }
                        + ["environment: done", "environment: done"])
            }
        }

        @Test(.enabled(if: PseudoTerminal.isAvailable, "no pseudo-terminals: mount /dev/pts"))
        func inputCannotBeInjectedIntoATerminal() async throws {
            try await withBox { box in
                let attempts = ["attack-type=1", "attack-type-high=1"]
                let free = try await terminal(["--nothing"] + attempts)
                // Some kernels let only root type into a terminal.
                #expect(
                    free.allSatisfy { $0.hasSuffix("done") || $0.hasSuffix("error") }, "\(free)")
                for place in ["--calls", box.path] {
                    let said = try await terminal([place] + attempts)
                    #expect(said.count == 2)
                    #expect(said.allSatisfy { $0.hasSuffix("Permission denied") }, "\(said)")
                }
            }
        }

        @Test(.enabled(if: PseudoTerminal.isAvailable, "no pseudo-terminals: mount /dev/pts"))
        func terminalIsWriteOnly() async throws {
            try await withBox { box in
                let said = try await terminal(
                    [box.path] + (0...2).map { "terminal=\($0)" })
                #expect(
                    said == [
                        "terminal: other read-only", "terminal: terminal write-only",
                        "terminal: terminal write-only",
                    ])
            }
        }

        /// The lines that the probe prints when it runs on a separate terminal.
        private func terminal(_ arguments: [String]) async throws -> [String] {
            let words = try [Tool.built("SandboxProbe")] + arguments
            let output = try await Tool.check(
                "script", ["-qec", words.map { "'\($0)'" }.joined(separator: " "), "/dev/null"])
            return output.split(whereSeparator: \.isNewline).map(String.init)
                .filter { $0.contains(": ") && !$0.hasPrefix("threads") }
        }
    }
}
