// Which Swift this is. Swift has no way of asking at run time, so the build does: it writes what `swiftc --version` said
// into a file and compiles that too (`build.sh`). A build that does not knows that it is of the major version that this source needs.

#if !SWIFTC_VERSION
let swiftcVersion = "Swift version 6 (this build did not ask for more)"
#endif

/// The version of Swift: `6.0.3` out of `Swift version 6.0.3 (swift-6.0.3-RELEASE)`.
public var swiftVersion: String {
    let words = swiftcVersion.split(separator: " ")
    let version = words.firstIndex(of: "version").map { words[($0 + 1)...] }
    return String(version?.first ?? "unknown")
}
