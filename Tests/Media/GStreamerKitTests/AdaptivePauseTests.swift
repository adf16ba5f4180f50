import GStreamerKit
import Testing

/// The pause that a reader takes when its queue is empty.
struct AdaptivePauseTests {
    @Test func aPauseThatBroughtNothingIsLeftOutForAWhile() {
        let pause = AdaptivePause()
        var looks = 0
        func take() {
            pause.take {
                looks += 1
                return 7
            }
        }
        take()
        #expect(looks == 2)
        for _ in 0..<64 { take() }
        #expect(looks == 2)
        take()
        #expect(looks == 4)
    }

    @Test func aPauseThatBroughtManyIsTakenAgain() {
        let pause = AdaptivePause()
        var written = 0
        for turn in 1...10 {
            pause.take {
                written += 5
                return written
            }
            #expect(written == turn * 10)
        }
    }
}
