// `bytes` over HTTP: what `urlsession/` does, which is a library that lies beside the probe.

import Foundation
import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

func declareBytesOverHttp() {
    let forms = ["for", "unsafe", "forEach", "reduce"]
    let fetches = [
        ("URLSession.data", "data(from:), the whole body"),
        ("dataTask.delegate", "a delegate of the session, which is given each piece of the body as it comes"),
        ("dataTask.handler", "dataTask(with:completionHandler:), the whole body"),
    ]
    for (fetch, note) in fetches { for form in forms { served("\(fetch)/\(form)", note: note, missing: notBuilt) } }
    #if canImport(Darwin)
    let absent = notBuilt
    #else
    let absent = Unavailable(
        reason: "Foundation has URLSession.bytes on Apple's systems alone", remedy: "run taskscale on macOS")
    #endif
    for form in ["for", "reduce"] { served("URLSession.bytes/\(form)", note: "bytes(from:)", missing: absent) }
}

private func served(_ name: String, note: String, missing: Unavailable?) {
    variant(
        "bytes", name, createsTask: false, only: ["source": ["http"], "mode": ["sum8", "fnv"]], unavailable: missing,
        note: note
    ) { run in try await performServed(run, name) }
}

/// Why it is not there. That it is there says nothing of what it needs itself: that shows when it is loaded.
private var notBuilt: Unavailable? {
    if access(libraryPath, R_OK) == 0 { return nil }
    return Unavailable(
        reason: "the probe was built without FoundationNetworking",
        remedy: "install a toolchain of Swift with it (swift.org/install), then: taskscale setup swift")
}

/// Beside the program.
private let libraryPath: String = {
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let folder = (program ?? CommandLine.arguments[0]).split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return (folder + ["TaskscaleUrlSession"]).joined(separator: "/")
}()

/// As in `urlsession/UrlSession.swift`.
private typealias Told = @convention(c) (UnsafeMutableRawPointer, UInt64, Int, UnsafePointer<CChar>?) -> Void
private typealias Pass = @convention(c) (
    UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer, Told
) -> Void

/// Loads the library, once.
private let loaded: Result<Pass, Refused> = {
    guard let library = dlopen(libraryPath, RTLD_NOW), let found = dlsym(library, "taskscale_url_session") else {
        let why = dlerror().map { String(cString: $0) } ?? "it has another interface"
        return .failure(
            Refused("\(why); URLSession needs libcurl 4: install it (apt install libcurl4), then: taskscale setup swift"))
    }
    return .success(unsafeBitCast(found, to: (@convention(c) () -> Pass).self)())
}()

/// Who waits for the end of a pass.
private final class Waiting: Sendable {
    let done: CheckedContinuation<(answer: UInt64, consumed: Int), any Error>

    init(_ done: CheckedContinuation<(answer: UInt64, consumed: Int), any Error>) { self.done = done }
}

private func passed(_ pass: Pass, _ name: String, _ sum: Int32, _ url: String) async throws -> (
    answer: UInt64, consumed: Int
) {
    try await withCheckedThrowingContinuation { done in
        pass(name, sum, url, Unmanaged.passRetained(Waiting(done)).toOpaque()) { context, answer, consumed, failure in
            let done = Unmanaged<Waiting>.fromOpaque(context).takeRetainedValue().done
            if let failure {
                done.resume(throwing: Refused(String(cString: failure)))
            } else {
                done.resume(returning: (answer, consumed))
            }
        }
    }
}

private func performServed(_ run: Run, _ name: String) async throws -> Timing {
    let origin = try Origin(run)
    let pass = try loaded.get()
    let sum: Int32 = (run.word("mode") == "fnv" ? 1 : 0) + (run.verify ? 2 : 0)
    var consumed = 0
    var timing = try await reading(origin) {
        try await run.time { _ in
            let one = try await passed(pass, name, sum, origin.place)
            consumed += one.consumed
            return one.answer
        }
    }
    if run.verify { timing.extra["executed"] = .integer(UInt64(consumed)) }
    return timing
}
