// `mode` http-closed and http-open: a server, whose every GET evaluates a request.

import Dispatch
import Synchronization
import TaskscaleProbe

/// The words of `mode` that ask for a server.
let httpModes: [Json] = ["http-closed", "http-open"]

func isServed(_ run: Run) -> Bool { httpModes.contains(.text(run.word("mode"))) }

/// Serves until the tool says stop. `answer` makes one request and returns what is wrong with its output; `right` is the
/// body of a response.
func serveHttp(_ run: Run, _ right: [UInt8], _ answer: @escaping @Sendable () async -> String?) async throws -> Timing {
    let responses = Mutex(Responses())
    let server = try Server {
        let wrong = await answer()
        responses.withLock { $0.count(wrong) }
        guard let wrong else { return Response(body: right) }
        return Response(status: "500 Internal Server Error", body: Array(wrong.utf8))
    }
    let id = Json.integer(run.id)
    say([
        "type": "serving", "id": id, "port": .integer(UInt64(server.port)),
        "server": .text("own, Dispatch of Swift \(swiftVersion)"),
    ])
    var once = run
    once.iterations = 1
    let timed: Result<Timing, any Error>
    do {
        try await heard("begin")
        responses.withLock { $0.answered = 0 }
        timed = .success(
            try await once.time { _ in
                say(["type": "began", "id": id])
                try await heard("stop")
                return responses.withLock { $0.answered }
            })
    } catch { timed = .failure(error) }
    await server.stop()
    if let wrong = responses.withLock({ $0.wrong }) { throw Refused(wrong) }
    return try timed.get()
}

/// What a server has answered.
private struct Responses {
    /// Right responses since the timed part began.
    var answered: UInt64 = 0
    /// What was wrong with the first wrong output.
    var wrong: String?

    mutating func count(_ wrong: String?) {
        if wrong == nil { answered += 1 }
        self.wrong = self.wrong ?? wrong
    }
}

/// Waits for the tool to say `kind`, on a thread that is none of the pool's: on one CPU the pool has one.
private func heard(_ kind: Json) async throws {
    while true {
        let line = await withCheckedContinuation { waiting in
            DispatchQueue(label: "taskscale.tool").async { waiting.resume(returning: readLine()) }
        }
        guard let line else { throw Refused("the tool is gone") }
        if let said = try? Json(line: Array(line.utf8)), said["type"] == kind { return }
        say(["type": "error", "message": "a server is running: say begin or stop"])
    }
}
