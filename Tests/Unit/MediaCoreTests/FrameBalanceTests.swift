import MediaCore
import Testing

@Suite struct FrameBalanceTests {
    @Test func whatIsNeitherDeliveredNorDroppedWaits() {
        var drops = DropCounts()
        (drops[.evicted], drops[.late]) = (36, 1)
        let balance = FrameBalance(offered: 60, delivered: 20, dropped: drops)
        #expect(balance.waiting == 3 && balance.isBalanced)
        #expect("\(balance)" == "60 offered, 20 delivered, 36 evicted, 1 late, 3 waiting")
        #expect("\(FrameBalance(offered: 5, delivered: 5))" == "5 offered, 5 delivered")
        let sum = balance + FrameBalance(offered: 5, delivered: 5)
        #expect(sum == FrameBalance(offered: 65, delivered: 25, dropped: drops))
    }

    @Test func aFrameThatWasCountedTwiceIsSeen() {
        #expect(!FrameBalance(offered: 1, delivered: 2).isBalanced)
        #expect(!FrameBalance(offered: 1, delivered: -1).isBalanced)
        var drops = DropCounts()
        (drops[.evicted], drops[.late]) = (-1, 1)
        #expect(!FrameBalance(offered: 1, delivered: 1, dropped: drops).isBalanced)
    }
}
