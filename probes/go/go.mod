module taskscale

go 1.21

// The last release that Go 1.21 takes; later ones need Go 1.23.
require golang.org/x/sync v0.11.0
