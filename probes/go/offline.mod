// For `go build -modfile=offline.mod -tags noerrgroup`: the probe where golang.org/x/sync cannot be had.
module taskscale

go 1.21
