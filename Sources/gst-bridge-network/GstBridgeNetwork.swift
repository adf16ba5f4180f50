import ArgumentParser
import BridgeCommands
import MediaBridgeWebRTC

/// `gst-bridge-network`: the commands of `gst-bridge` plus the network commands.
@main
struct GstBridgeNetwork: AsyncParsableCommand {
    static let configuration = CommandConfiguration.gstBridge(network: [
        ShareCommand.self, ReceiveCommand.self, HostCommand.self, JoinCommand.self,
        TokenCommand.self,
    ])

    static func main() async {
        NetworkProgram.connector = { plan, decodesCaptures in
            try await plan.connectAddresses(decodingCaptures: decodesCaptures)
        }
        await runProgram()
    }
}
