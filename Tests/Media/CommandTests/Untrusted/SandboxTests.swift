import Foundation
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// The kernel's part of the sandbox, without the list of permitted elements in front of it.
    @Suite(
        .hangGuard,
        .enabled(if: Sandbox.kernelVersion != nil, "this kernel has no Landlock"),
        .disabled(if: Sanitizer.isActive, "sanitizers look into processes: the sandbox forbids it"))
    struct SandboxTests {
        /// Runs the probe and returns its result for each attempt.
        private func probe(_ box: Box, _ attempts: [String]) async throws -> [Substring] {
            let result = try await Tool.run(
                Tool.built("SandboxProbe"), [box.path] + attempts)
            #expect(result.status == 0, "\(result.errors)")
            return result.output.split(separator: "\n")
        }

        @Test func filesOutsideTheDirectoryAreInaccessible() async throws {
            try await withBox { box in
                let before = try box.outside
                let secret = box.out + "/secret"
                let said = try await probe(
                    box,
                    [
                        "read=\(secret)", "write=\(box.out)/new", "append=\(secret)",
                        "write=\(box.path)/dangling", "append=\(box.path)/link/secret",
                        "remove=\(secret)", "directory=\(box.out)/sub", "mode=\(secret)",
                        "shorten=\(secret)", "touch=\(secret)", "read=/etc/passwd",
                        "link=\(box.path)/l", "program=/bin/true",
                    ])
                for line in said.dropLast() {
                    #expect(line.hasSuffix("Permission denied"), "\(line)")
                }
                #expect(said.count == 14 && said.last == "threads: inside")
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        @Test func filesInsideTheDirectoryCanBeCreatedAndRemoved() async throws {
            try await withBox { box in
                let file = box.path + "/new"
                let said = try await probe(
                    box,
                    [
                        "write=\(file)", "append=\(file)", "read=\(file)", "remove=\(file)",
                        "directory=\(box.path)/more",
                    ])
                #expect(said.dropLast().allSatisfy { $0.hasSuffix(": done") }, "\(said)")
            }
        }

        @Test(arguments: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET])
        func socketsOfEveryFamilyAreRefused(family: Int32) async throws {
            try await withBox { box in
                let said = try await probe(box, ["socket=\(family)", "datagrams=\(family)"])
                #expect(
                    said.dropLast() == [
                        "socket: Permission denied", "datagrams: Permission denied",
                    ])
            }
        }

        /// Attacks that the list of elements would have refused.
        @Test func pipelinesWithoutAPolicyCheckAreContained() async throws {
            try await withBox { box in
                let before = try box.outside
                let attacks = [
                    "filesink location=\(box.out)/a", "multifilesink location=\(box.out)/%d",
                    "giosink location=file://\(box.out)/a",
                    "tcpclientsink host=127.0.0.1 port=\(box.listener.port)",
                    "udpsink host=127.0.0.1 port=\(box.listener.port)",
                    "x264enc option-string=pass=1:stats=\(box.out)/a ! fakesink",
                    "x264enc ! mp4mux moov-recovery-file=\(box.out)/a ! fakesink",
                    "vp8enc multipass-mode=1 multipass-cache-file=\(box.out)/a ! fakesink",
                ]
                let said = try await probe(
                    box, attacks.map { "pipeline=\(Attack.picture) ! \($0)" })
                // Some elements only warn if they cannot create their file.
                #expect(said.count >= attacks.count)
                #expect(said.contains("threads: inside"))
                #expect(try box.outside.differences(from: before) == [])
                #expect(!box.listener.wasReached)
            }
        }
    }
}
