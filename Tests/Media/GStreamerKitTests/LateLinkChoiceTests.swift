import CMediaBridge
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import GStreamerKit

@Suite(.hangGuard) struct LateLinkChoiceTests {
    /// The pad of the sound appears while the pad of the pictures is tried with a receiver that is
    /// kept for the sound.
    @Test(arguments: ["fakesink name=rest async=false", "queue name=rest ! fakesink async=false"])
    func padsOfTwoThreadsAreLinkedOneAtATime(rest: String) async throws {
        let pipeline = try Pipeline(
            parsing: "rtpbin name=r latency=0 "
                + "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! "
                + "x264enc tune=zerolatency ! rtph264pay pt=96 ! r.recv_rtp_sink_0 "
                + "audiotestsrc num-buffers=3 ! opusenc ! rtpopuspay pt=97 ! "
                + "identity name=sound ! r.recv_rtp_sink_1 "
                + "r. ! \(rest) r. ! rtph264depay name=pictures ! fakesink async=false")
        let receiver = try #require(pipeline.element(named: "rest")?.pad("sink"))
        let pictures = try #require(pipeline.element(named: "pictures")?.pad("sink"))
        let sound = try #require(pipeline.element(named: "sound")?.pad("sink"))
        let trial = DispatchSemaphore(value: 0)
        _ = sound.addProbe(GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
            trial.wait()
            trial.signal()
            return GST_PAD_PROBE_OK
        }
        // Makes the trial last long: it compares the formats of both receivers.
        let hasBegun = Mutex(false)
        _ = pictures.addProbe(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, GST_PAD_PROBE_TYPE_PUSH) {
            _, _ in
            let begins = hasBegun.withLock { hasBegun in
                defer { hasBegun = hasBegun || receiver.isLinked }
                return !hasBegun && receiver.isLinked
            }
            if begins {
                trial.signal()
                g_usleep(100_000)
            }
            return GST_PAD_PROBE_OK
        }
        let packets = Mutex(0)
        _ = receiver.addProbe(GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
            packets.withLock { $0 += 1 }
            return GST_PAD_PROBE_OK
        }
        try await pipeline.playToTheEnd()
        #expect(packets.withLock { $0 } > 0)
    }
}
