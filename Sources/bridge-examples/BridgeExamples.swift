import ArgumentParser
import BridgeCommands

/// The samples that users of RTC SDKs try first. Each is a separate file to read and copy from: the
/// class as it would be written for such an SDK, followed by the few lines that use it.
@main
struct BridgeExamples: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge-examples",
        abstract: "Run an example that writes a video, audio or picture file.",
        discussion: """
            Each example is one file in Sources/bridge-examples. None needs a camera or a screen. The \
            file extension selects the format: .mkv, .yuv (raw I420), .png or .jpg (the last picture). \
            Ctrl-C completes the files.

            Exit status:
              0   Success, also after Ctrl-C.
              1   Failure. The reason is on standard error.
              64  Wrong usage.

            Examples:
              bridge-examples black-and-white gray.mkv
              bridge-examples call clip.mp4 anna.mkv otto.mkv
            """,
        subcommands: [
            BlackAndWhite.self, CustomSource.self, Push.self, CameraSwitch.self, Call.self,
            CustomAudioSource.self, RecordWhen.self, PictureInPicture.self,
        ])

    static func main() async { await runProgram() }
}
