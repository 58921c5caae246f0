package interp

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
)

// count is what an instrumented run counts. A timed run evaluates a tree without it: what counts are nodes, functions and
// lambdas around those of the tree.
type count struct {
	mutex                                     sync.Mutex
	nodes, builtins, applications, extensions uint64
	live, deepest, yields, suspended          uint64
	made, taken, again                        uint64
	order, output                             uint64
	cells                                     map[*cell]bool // in which nodes of a request were seen to be evaluated
	log                                       strings.Builder
}

func newCount() *count { return &count{cells: map[*cell]bool{}} }

func (c *count) locked(work func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	work()
}

func (c *count) entered(env *cell) {
	c.locked(func() {
		c.nodes++
		c.live++
		c.deepest = max(c.deepest, c.live)
		if env != nil && !c.cells[env] {
			c.cells[env] = true
			c.extensions++
		}
	})
}

func (c *count) left() { c.locked(func() { c.live-- }) }

func (c *count) called() { c.locked(func() { c.builtins++ }) }

func (c *count) begins(element value) {
	c.locked(func() {
		c.applications++
		fmt.Fprintf(&c.log, "B %v\n", element)
	})
}

func (c *count) hasValue(element value) { c.locked(func() { fmt.Fprintf(&c.log, "E %v\n", element) }) }

func (c *count) paused() { c.locked(func() { c.suspended++ }) }

// answered says that a request gave that output.
func (c *count) answered(output []byte) {
	c.locked(func() {
		c.output, c.order = fnv1a(output), fnv1a([]byte(c.log.String()))
		c.cells = map[*cell]bool{}
		c.log.Reset()
	})
}

// add adds what another worker counted. The last request is one of the other's, if it had any.
func (c *count) add(other *count) {
	c.nodes += other.nodes
	c.builtins += other.builtins
	c.applications += other.applications
	c.extensions += other.extensions
	c.deepest = max(c.deepest, other.deepest)
	c.suspended += other.suspended
	c.made, c.taken, c.again = c.made+other.made, c.taken+other.taken, c.again+other.again
	if other.nodes > 0 {
		c.order, c.output = other.order, other.output
	}
}

// report is what goes into extra. Numbers of 64 bits are strings, as JSON's may be less exact.
func (c *count) report() (extra map[string]any) {
	c.locked(func() {
		extra = map[string]any{
			"nodes": c.nodes, "builtins": c.builtins, "applications": c.applications, "extensions": c.extensions,
			"deepest": c.deepest, "suspended": c.suspended,
			// Results that were never used, and uses beyond the first.
			"consumed_twice": c.made - c.taken + c.again,
			"order":          strconv.FormatUint(c.order, 10), "output": strconv.FormatUint(c.output, 10),
		}
	})
	return extra
}

func fnv1a(bytes []byte) uint64 {
	hash := fnv.New64a()
	hash.Write(bytes)
	return hash.Sum64()
}

// watch makes a tree count.
func (t *syncTree) watch(c *count) {
	wrap, lambda := t.wrap, t.lambda
	t.wrap = func(n node) node { return wrap(counted{n, c}) }
	t.lambda = func(n node) node { return countedLambda{lambda(n), c} }
	for name, function := range t.functions {
		function := function
		t.functions[name] = func(arguments []value) value {
			c.called()
			return function(arguments)
		}
	}
	yield := t.pauses.yield
	t.pauses = &pauses{t.pauses.every, func() {
		yield()
		c.paused()
	}}
}

type counted struct {
	node
	*count
}

func (n counted) eval(env *cell) value {
	n.entered(env)
	defer n.left()
	return n.node.eval(env)
}

type countedLambda struct {
	node
	*count
}

func (n countedLambda) eval(env *cell) value {
	return countedApplier{n.node.eval(env).(applier), n.count}
}

type countedApplier struct {
	applier
	*count
}

func (a countedApplier) apply(element value) value {
	a.begins(element)
	defer a.hasValue(element)
	return a.applier.apply(element)
}

// watch makes a tree count.
func (t *unionTree) watch(c *count) {
	t.wrap = func(n unionNode) unionNode { return countedUnion{n, c} }
	t.lambda = func(n unionNode) unionNode { return countedUnionLambda{n, c} }
	for name, function := range t.functions {
		function := function
		t.functions[name] = func(arguments []value) result {
			c.called()
			return c.followed(function(arguments), func() {})
		}
	}
	yield := t.pauses.yield
	t.pauses = &pauses{t.pauses.every, func() {
		yield()
		c.locked(func() { c.yields++ })
	}}
}

// followed calls end when a result is there. One that is pending is counted as one that can be used once.
func (c *count) followed(of result, end func()) result {
	if of.pending == nil {
		end()
		return of
	}
	c.locked(func() { c.made++ })
	return result{pending: &once{of.pending, c, end, false}}
}

// once is a pending value that counts its uses.
type once struct {
	pending
	*count
	end  func()
	used bool
}

func (o *once) wait() (there value) {
	again := o.used
	o.used = true
	if again {
		o.locked(func() { o.count.again++ })
		return failure("a pending value was used twice")
	}
	there = o.pending.wait()
	o.end()
	o.locked(func() { o.taken++ })
	return there
}

type countedUnion struct {
	unionNode
	*count
}

func (n countedUnion) eval(env *cell) result {
	n.entered(env)
	return n.followed(n.unionNode.eval(env), n.left)
}

type countedUnionLambda struct {
	unionNode
	*count
}

func (n countedUnionLambda) eval(env *cell) result {
	return result{value: countedUnionApplier{n.unionNode.eval(env).value.(unionApplier), n.count}}
}

type countedUnionApplier struct {
	unionApplier
	*count
}

func (a countedUnionApplier) apply(element value) result {
	a.begins(element)
	of := a.unionApplier.apply(element)
	waits := of.pending != nil
	return a.followed(of, func() {
		a.hasValue(element)
		// A pause counts once somebody waited for the result that it is part of.
		if waits && a.yields > a.suspended {
			a.paused()
		}
	})
}
