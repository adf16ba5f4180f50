import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine

@Suite struct SendPlanTests {
    private let hd = VideoSize(width: 1280, height: 720)

    private func plan(
        _ size: VideoSize, _ rate: Double? = 30, _ hint: VideoContentHint = .unspecified,
        _ change: (inout VideoEncoderConfiguration, inout VideoLimit) -> Void = { _, _ in }
    ) -> SendPlan {
        var (configuration, limit) = (VideoEncoderConfiguration(), VideoLimit())
        change(&configuration, &limit)
        return SendPlan(for: size, rate, hint: hint, configuration, limit)
    }

    @Test func planFollowsTheSourceWithoutALimit() {
        let plan = plan(hd)
        #expect(plan.size == hd && plan.frameRate == 30)
        #expect(plan.bitRate == 1280 * 720 * 30 / 10)
        // The source does not report its frame rate.
        #expect(self.plan(hd, nil).frameRate == 30 && self.plan(hd, 0).frameRate == 30)
        // No frame is dropped, even if a source is faster than it reports.
        #expect(!plan.dropsFrames && !self.plan(hd, nil).dropsFrames)
        #expect(
            self.plan(hd, 30) {
                $0.frameRate = 30; _ = $1
            }.dropsFrames == false)
        #expect(
            self.plan(hd, nil) {
                $0.frameRate = 60; _ = $1
            }.dropsFrames)
    }

    @Test func lowestRequestedLimitApplies() {
        let plan = plan(hd) { configuration, limit in
            (configuration.frameRate, limit.frameRate) = (20, 15)
            (configuration.bitRate, limit.bitRate) = (900_000, 1_200_000)
            limit.size = VideoSize(width: 640, height: 640)
        }
        #expect(plan.frameRate == 15 && plan.dropsFrames && plan.bitRate == 900_000)
        #expect(plan.size == VideoSize(width: 640, height: 360))
    }

    /// A portrait picture fits into a landscape size limit.
    @Test func portraitFrameFitsALandscapeLimit() {
        let plan = plan(VideoSize(width: 720, height: 1280)) { $1.size = hd.half }
        #expect(plan.size == VideoSize(width: 360, height: 640))
    }

    @Test func motionKeepsItsFrameRateAndTextItsSize() {
        let few = 200_000
        let motion = plan(hd, 30, .motion) { $1.bitRate = few }
        #expect(motion.frameRate == 30 && motion.size.width < hd.width / 2)
        #expect(motion.bitRate == few)
        let text = plan(hd, 30, .text) { $1.bitRate = few }
        #expect(text.size == hd && text.frameRate == 5 && text.bitRate == few)
    }

    /// For any request, the plan can be encoded and keeps to the limits.
    @Test(arguments: 0..<20)
    func everyPlanKeepsToItsLimits(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<500 {
            let size = VideoSize(
                width: Int.random(in: 1...8000, using: &generator),
                height: Int.random(in: 1...8000, using: &generator))
            let rate = [nil, 0, 0.5, 15, 29.97, 30, 240, 90000].randomElement(using: &generator)!
            let hint: VideoContentHint =
                [.unspecified, .motion, .details, .text].randomElement(using: &generator)!
            var limit = VideoLimit()
            if Bool.random(using: &generator) {
                limit.bitRate = Int.random(in: 0...10_000_000, using: &generator)
            }
            if Bool.random(using: &generator) {
                limit.size = VideoSize(
                    width: Int.random(in: 0...4000, using: &generator),
                    height: Int.random(in: 0...4000, using: &generator))
            }
            if Bool.random(using: &generator) {
                limit.frameRate =
                    [0, -1, .nan, .infinity, 7.5, 60].randomElement(using: &generator)!
            }
            var wish: Int?
            if Bool.random(using: &generator) {
                wish = [Int.min, 0, 1_000_000, 50_000_000, .max].randomElement(using: &generator)!
            }
            let plan = plan(size, rate, hint) { ($0.bitRate, $1) = (wish, limit) }
            let comment: Comment = "seed \(seed): \(size) \(rate ?? -1) \(hint) \(limit) → \(plan)"
            #expect(plan.size.width % 2 == 0 && plan.size.height % 2 == 0, comment)
            #expect(plan.size.width >= 2 && plan.size.height >= 2, comment)
            #expect(
                plan.size.width <= max(2, size.width) && plan.size.height <= max(2, size.height),
                comment)
            #expect((1...120).contains(plan.frameRate), comment)
            #expect(plan.bitRate > 0 && plan.bitRate <= max(10_000, limit.bitRate ?? .max), comment)
            if let most = limit.size, most.width > 0, most.height > 0 {
                let long = max(most.width, most.height)
                #expect(max(plan.size.width, plan.size.height) <= max(2, long), comment)
            }
        }
    }
}

extension VideoSize {
    fileprivate var half: VideoSize { VideoSize(width: width / 2, height: height / 2) }
}
