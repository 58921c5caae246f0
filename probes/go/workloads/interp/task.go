package interp

// spawned evaluates a node in a goroutine of its own, which sends the value through a channel: the encoding `task`, and
// with a whole request for a node `green`.
type spawned struct{ node }

func (s spawned) eval(env *cell) value {
	there := make(chan value, 1)
	go func() { there <- s.node.eval(env) }()
	return <-there
}

func newTaskTree(p *pauses, linked bool) *syncTree {
	tree := newSyncTree(p, linked)
	tree.wrap = func(n node) node { return spawned{n} }
	return tree
}
