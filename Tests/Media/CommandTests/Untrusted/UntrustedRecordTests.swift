import Foundation
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// `record --untrusted` has the options of `run --untrusted`.
    @Suite(
        .hangGuard,
        .enabled(if: Sandbox.kernelVersion != nil, "this kernel has no Landlock"),
        .disabled(if: Sanitizer.isActive, "sanitizers look into processes: the sandbox forbids it"))
    struct UntrustedRecordTests {
        private static let picture =
            "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48,framerate=10/1"

        @Test(arguments: ["a.mkv", "a.mp4", "a.webm", "a.ts", "sub/a.mkv"])
        func fileIsWrittenInsideTheDirectory(name: String) async throws {
            try await withBox { box in
                let before = try box.outside
                let ended = try await GstBridge.run([
                    "record", "--untrusted", box.path, "--capture", Self.picture, name,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await MediaProbe(of: "\(box.path)/\(name)").video?.frames == 20)
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        @Test(arguments: ["../out/a.mkv", "OUT/a.mkv", "link/a.mkv", "BOX/../out/a.mkv"])
        func fileOutsideTheDirectoryIsRefused(path: String) async throws {
            try await withBox { box in
                let before = try box.outside
                let filled = path.replacing("BOX", with: box.path).replacing("OUT", with: box.out)
                let ended = try await GstBridge.run([
                    "record", "--untrusted", box.path, "--capture", Self.picture, filled,
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains(Attack.Reason.path.rawValue), "\(ended.errors)")
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        @Test func pipelineStringsAreCheckedByThePolicy() async throws {
            try await withBox { box in
                let ended = try await GstBridge.run([
                    "record", "--untrusted", box.path, "--capture", "v4l2src", "a.mkv",
                ])
                #expect(ended.status == 1)
                #expect(ended.errors.contains(Attack.Reason.element.rawValue), "\(ended.errors)")
            }
        }

        @Test func missingStringsAreWrongUsage() async throws {
            let ended = try await GstBridge.run(["record", "--untrusted", "/tmp", "a.mkv"])
            #expect(ended.status == 64)
        }
    }
}
