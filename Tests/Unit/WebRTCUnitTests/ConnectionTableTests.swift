import Testing

@testable import MediaBridgeHTTP

/// Which connection a server closes when there is no room for another.
struct ConnectionTableTests {
    private typealias Table = ConnectionTable<Int>

    @Test func newConnectionReplacesTheLongestIdleOne() {
        var table = Table(limit: 3, limitPerAddress: 3)
        for id in 1...3 { #expect(table.admit(id, from: .local) == .admitted) }
        table.setIdle(false, 1)
        table.setIdle(true, 1)
        table.setIdle(false, 3)
        #expect(table.admit(4, from: .local) == .admittedInsteadOf(2))
        #expect(table.admit(5, from: .local) == .admittedInsteadOf(1))
    }

    @Test func busyConnectionsStay() {
        var table = Table(limit: 2, limitPerAddress: 2)
        for id in 1...2 {
            #expect(table.admit(id, from: .local) == .admitted)
            table.setIdle(false, id)
        }
        #expect(table.admit(3, from: .local) == .refused)
        table.remove(1)
        #expect(table.admit(3, from: .local) == .admitted)
    }

    @Test func connectionsOfANetworkAddressAreLimited() {
        var table = Table(limit: 4, limitPerAddress: 2)
        let (one, other) = (
            Table.Origin.network([10, 0, 0, 1]), Table.Origin.network([10, 0, 0, 2])
        )
        #expect(table.admit(1, from: one) == .admitted)
        #expect(table.admit(2, from: one) == .admitted)
        #expect(table.admit(3, from: other) == .admitted)
        #expect(table.admit(4, from: one) == .admittedInsteadOf(1))
        table.setIdle(false, 2)
        table.setIdle(false, 4)
        #expect(table.admit(5, from: one) == .refused)
        #expect(table.admit(5, from: other) == .admitted)
    }

    @Test func localConnectionsHaveNoPerAddressLimit() {
        var table = Table(limit: 4, limitPerAddress: 1)
        for id in 1...4 { #expect(table.admit(id, from: .local) == .admitted) }
    }
}
