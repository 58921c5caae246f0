package interp

// node is a node of the encodings in which evaluating waits: `sync`, `green` and `task`.
type node interface{ eval(env *cell) value }

// applier is a lambda with the environment in which it was written.
type applier interface {
	params() []string
	apply(element value) value
}

// syncTree makes nodes of terms.
type syncTree struct {
	pauses    *pauses
	functions map[string]builtin
	linked    bool
	wrap      func(node) node // makes of each node what stands in the tree
	lambda    func(node) node // the same of a lambda, before wrap
}

func sameNode(n node) node { return n }

// newSyncTree is plain recursion.
func newSyncTree(p *pauses, linked bool) *syncTree {
	functions := map[string]builtin{"List::map": syncMap}
	for name, function := range synchronous {
		functions[name] = function
	}
	return &syncTree{p, functions, linked, sameNode, sameNode}
}

func (t *syncTree) node(of *term) node {
	parts := make([]node, len(of.parts))
	for i, part := range of.parts {
		parts[i] = t.node(part)
	}
	switch of.kind {
	case "int", "str":
		return t.wrap(&literal{of.literal})
	case "var":
		return t.wrap(&variable{of.name})
	case "lambda":
		return t.wrap(t.lambda(&lambdaNode{of.params, parts[0], t.pauses}))
	case "let":
		return t.wrap(&let{of.name, parts[0], parts[1]})
	case "if":
		return t.wrap(&ifNode{parts[0], [2]node{parts[1], parts[2]}})
	case "bin":
		return t.wrap(&bin{t.callee(of.name), parts[0], parts[1]})
	}
	return t.wrap(&call{t.callee(of.name), parts})
}

// callee is how a call names its function: it is looked up at each call, or was when the tree was made.
type callee struct {
	name      string
	linked    builtin
	functions map[string]builtin
}

func (t *syncTree) callee(name string) callee {
	made := callee{name: name, functions: t.functions}
	if t.linked {
		made.linked = t.functions[name]
	}
	return made
}

func (c *callee) call(arguments []value) value {
	if failed := firstFailure(arguments); failed != nil {
		return failed
	}
	function := c.linked
	if function == nil {
		if function = c.functions[c.name]; function == nil {
			return failure("no function " + c.name)
		}
	}
	return function(arguments)
}

type literal struct{ value value }

func (n *literal) eval(*cell) value { return n.value }

type variable struct{ name string }

func (n *variable) eval(env *cell) value { return env.find(n.name) }

type let struct {
	name        string
	bound, body node
}

func (n *let) eval(env *cell) value { return n.body.eval(&cell{n.name, n.bound.eval(env), env}) }

type ifNode struct {
	condition node
	branches  [2]node
}

func (n *ifNode) eval(env *cell) value {
	part, wrong := branch(n.condition.eval(env))
	if wrong != nil {
		return wrong
	}
	return n.branches[part-1].eval(env)
}

type bin struct {
	function    callee
	left, right node
}

func (n *bin) eval(env *cell) value {
	left := n.left.eval(env)
	return n.function.call([]value{left, n.right.eval(env)})
}

type call struct {
	function  callee
	arguments []node
}

func (n *call) eval(env *cell) value {
	arguments := make([]value, len(n.arguments))
	for i, argument := range n.arguments {
		arguments[i] = argument.eval(env)
	}
	return n.function.call(arguments)
}

type lambdaNode struct {
	names  []string
	body   node
	pauses *pauses
}

func (n *lambdaNode) eval(env *cell) value { return &lambda{n, env} }

type lambda struct {
	written *lambdaNode
	env     *cell
}

func (l *lambda) params() []string { return l.written.names }

func (l *lambda) apply(element value) value {
	if l.written.pauses.has(element) {
		l.written.pauses.yield()
	}
	return l.written.body.eval(&cell{l.written.names[0], element, l.env})
}

// MarshalJSON fails: a request's output is no lambda.
func (l *lambda) MarshalJSON() ([]byte, error) { return nil, errLambda }

// syncMap is List::map. An element begins when the one before it has its value.
func syncMap(arguments []value) value {
	list, lambda, wrong := mapped[applier](arguments)
	if wrong != nil {
		return wrong
	}
	values := make([]value, len(list))
	for i, element := range list {
		values[i] = lambda.apply(element)
	}
	return listed(values)
}
