package interp

// result is a value that is there, or one that is pending.
type result struct {
	value   value
	pending pending // nil where the value is there
}

// pending gives a value when it is there, once.
type pending interface{ wait() value }

// channel is what a goroutine sends its value through.
type channel chan value

func (c channel) wait() value { return <-c }

// wait waits for a value that is pending.
func (r result) wait() value {
	if r.pending == nil {
		return r.value
	}
	return r.pending.wait()
}

// later is pending until work, in a goroutine of its own, gives the value.
func later(work func() value) result {
	there := make(channel, 1)
	go func() { there <- work() }()
	return result{pending: there}
}

// then is what next makes of the value of first: at once, or when it is there.
func (r result) then(next func(value) result) result {
	if r.pending == nil {
		return next(r.value)
	}
	return later(func() value { return next(r.pending.wait()).wait() })
}

// inTurn is what last makes of the values of count results, each of which is asked for when the one before it is there.
func inTurn(count int, ask func(i int) result, last func(values []value) result) result {
	values := make([]value, count)
	for i := range values {
		one := ask(i)
		if one.pending != nil {
			return later(func() value {
				values[i] = one.pending.wait()
				for i++; i < count; i++ {
					values[i] = ask(i).wait()
				}
				return last(values).wait()
			})
		}
		values[i] = one.value
	}
	return last(values)
}

// unionNode is a node of the encoding `union`.
type unionNode interface{ eval(env *cell) result }

// unionBuiltin is a function of the program.
type unionBuiltin func(arguments []value) result

// unionApplier is a lambda with the environment in which it was written.
type unionApplier interface {
	params() []string
	apply(element value) result
}

// unionTree makes nodes of terms.
type unionTree struct {
	pauses    *pauses
	functions map[string]unionBuiltin
	linked    bool
	wrap      func(unionNode) unionNode
	lambda    func(unionNode) unionNode
}

func newUnionTree(p *pauses, linked bool) *unionTree {
	functions := map[string]unionBuiltin{"List::map": unionMap}
	for name, function := range synchronous {
		function := function
		functions[name] = func(arguments []value) result { return result{value: function(arguments)} }
	}
	same := func(n unionNode) unionNode { return n }
	return &unionTree{p, functions, linked, same, same}
}

func (t *unionTree) node(of *term) unionNode {
	parts := make([]unionNode, len(of.parts))
	for i, part := range of.parts {
		parts[i] = t.node(part)
	}
	switch of.kind {
	case "int", "str":
		return t.wrap(&unionLiteral{of.literal})
	case "var":
		return t.wrap(&unionVariable{of.name})
	case "lambda":
		return t.wrap(t.lambda(&unionLambdaNode{of.params, parts[0], t.pauses}))
	case "let":
		return t.wrap(&unionLet{of.name, parts[0], parts[1]})
	case "if":
		return t.wrap(&unionIf{parts[0], [2]unionNode{parts[1], parts[2]}})
	case "bin":
		return t.wrap(&unionBin{t.callee(of.name), parts[0], parts[1]})
	}
	return t.wrap(&unionCall{t.callee(of.name), parts})
}

type unionCallee struct {
	name      string
	linked    unionBuiltin
	functions map[string]unionBuiltin
}

func (t *unionTree) callee(name string) unionCallee {
	made := unionCallee{name: name, functions: t.functions}
	if t.linked {
		made.linked = t.functions[name]
	}
	return made
}

func (c *unionCallee) call(arguments []value) result {
	if failed := firstFailure(arguments); failed != nil {
		return result{value: failed}
	}
	function := c.linked
	if function == nil {
		if function = c.functions[c.name]; function == nil {
			return result{value: failure("no function " + c.name)}
		}
	}
	return function(arguments)
}

type unionLiteral struct{ value value }

func (n *unionLiteral) eval(*cell) result { return result{value: n.value} }

type unionVariable struct{ name string }

func (n *unionVariable) eval(env *cell) result { return result{value: env.find(n.name)} }

type unionLet struct {
	name        string
	bound, body unionNode
}

func (n *unionLet) eval(env *cell) result {
	return n.bound.eval(env).then(func(bound value) result { return n.body.eval(&cell{n.name, bound, env}) })
}

type unionIf struct {
	condition unionNode
	branches  [2]unionNode
}

func (n *unionIf) eval(env *cell) result {
	return n.condition.eval(env).then(func(condition value) result {
		part, wrong := branch(condition)
		if wrong != nil {
			return result{value: wrong}
		}
		return n.branches[part-1].eval(env)
	})
}

type unionBin struct {
	function    unionCallee
	left, right unionNode
}

func (n *unionBin) eval(env *cell) result {
	return n.left.eval(env).then(func(left value) result {
		return n.right.eval(env).then(func(right value) result { return n.function.call([]value{left, right}) })
	})
}

type unionCall struct {
	function  unionCallee
	arguments []unionNode
}

func (n *unionCall) eval(env *cell) result {
	return inTurn(len(n.arguments), func(i int) result { return n.arguments[i].eval(env) }, n.function.call)
}

type unionLambdaNode struct {
	names  []string
	body   unionNode
	pauses *pauses
}

func (n *unionLambdaNode) eval(env *cell) result { return result{value: &unionLambda{n, env}} }

type unionLambda struct {
	written *unionLambdaNode
	env     *cell
}

func (l *unionLambda) params() []string { return l.written.names }

func (l *unionLambda) apply(element value) result {
	if !l.written.pauses.has(element) {
		return l.body(element)
	}
	return later(func() value {
		l.written.pauses.yield()
		return l.body(element).wait()
	})
}

func (l *unionLambda) body(element value) result {
	return l.written.body.eval(&cell{l.written.names[0], element, l.env})
}

// MarshalJSON fails: a request's output is no lambda.
func (l *unionLambda) MarshalJSON() ([]byte, error) { return nil, errLambda }

// unionMap is List::map. An element begins when the one before it has its value.
func unionMap(arguments []value) result {
	list, lambda, wrong := mapped[unionApplier](arguments)
	if wrong != nil {
		return result{value: wrong}
	}
	return inTurn(len(list), func(i int) result { return lambda.apply(list[i]) }, unionListed)
}

func unionListed(values []value) result { return result{value: listed(values)} }
