import MediaCore
import TestSupport
import Testing

@Suite struct FrameDispositionTests {
    @Test func droppedFrameIsNotAccepted() {
        #expect(FrameDisposition.accepted.isAccepted)
        for cause in DropCause.allCases { #expect(!FrameDisposition.dropped(cause).isAccepted) }
    }
}

@Suite struct DropCountsTests {
    @Test func countsAreKeptByCause() {
        var counts = DropCounts()
        #expect(counts.total == 0)
        counts[.late] += 1
        counts[.evicted] += 3
        #expect(counts[.evicted] == 3 && counts[.late] == 1 && counts[.closed] == 0)
        #expect(counts.total == 4)
    }

    @Test func sumContainsBothCounts() {
        var a = DropCounts()
        var b = DropCounts()
        a[.late] = 1
        b[.late] = 2
        b[.early] = 5
        let sum = a + b
        #expect(sum[.late] == 3 && sum[.early] == 5 && sum.total == 8)
        #expect(a.total == 1 && b.total == 7)
        #expect(a + DropCounts() == a)
    }

    @Test func zeroCountEqualsAMissingCount() {
        var counts = DropCounts()
        counts[.late] = 2
        counts[.late] -= 2
        #expect(counts == DropCounts())
    }

    @Test func countsAreListedInAFixedOrder() {
        var counts = DropCounts()
        #expect(counts.description == "none")
        counts[.late] = 1
        counts[.evicted] = 3
        #expect(counts.description == "3 evicted, 1 late")
    }
}

@Suite struct FrameBalanceTests {
    @Test func unaccountedFramesCountAsWaiting() {
        var drops = DropCounts()
        (drops[.evicted], drops[.late]) = (36, 1)
        let balance = FrameBalance(offered: 60, delivered: 20, dropped: drops)
        #expect(balance.waiting == 3 && balance.isBalanced)
        #expect("\(balance)" == "60 offered, 20 delivered, 36 evicted, 1 late, 3 waiting")
        #expect("\(FrameBalance(offered: 5, delivered: 5))" == "5 offered, 5 delivered")
        let sum = balance + FrameBalance(offered: 5, delivered: 5)
        #expect(sum == FrameBalance(offered: 65, delivered: 25, dropped: drops))
    }

    @Test func frameCountedTwiceIsDetected() {
        #expect(!FrameBalance(offered: 1, delivered: 2).isBalanced)
        #expect(!FrameBalance(offered: 1, delivered: -1).isBalanced)
        var drops = DropCounts()
        (drops[.evicted], drops[.late]) = (-1, 1)
        #expect(!FrameBalance(offered: 1, delivered: 1, dropped: drops).isBalanced)
    }
}
