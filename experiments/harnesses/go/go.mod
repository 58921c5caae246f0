module bench

go 1.25

require golang.org/x/sync v0.11.0
