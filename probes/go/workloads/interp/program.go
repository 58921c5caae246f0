package interp

import (
	"encoding/json"
	"fmt"
	"sync"
)

// program is `probes/interp/program.json`, which lies outside the sources that the taskscale binary has.
const program = `["let","range",["call","Int::range",[["int",1],["int",100]]],` +
	`["call","List::map",[["var","range"],["lambda",["i"],` +
	`["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],` +
	`["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],` +
	`["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],` +
	`["call","Int::toString",[["var","i"]]]]]]]]]]`

// term is a node as it was read. What evaluates it is made of it by each encoding.
type term struct {
	kind, name string // name: of a variable or a function
	literal    value
	params     []string
	parts      []*term
}

// parsed is the shared program, read once per process.
var parsed = sync.OnceValue(func() *term { return parse(program) })

// parse reads a program in JSON; panics where it is none.
func parse(text string) *term {
	var read []any
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		panic(fmt.Sprint("the program is not JSON: ", err))
	}
	return asTerm(read)
}

func asTerm(read []any) *term {
	kind := read[0].(string)
	made, parts := &term{kind: kind}, read[1:]
	switch kind {
	case "int":
		made.literal = int64(parts[0].(float64))
		return made
	case "str":
		made.literal = parts[0].(string)
		return made
	case "var", "let", "bin":
		made.name, parts = parts[0].(string), parts[1:]
	case "call":
		made.name, parts = parts[0].(string), parts[1].([]any)
	case "lambda":
		for _, param := range parts[0].([]any) {
			made.params = append(made.params, param.(string))
		}
		parts = parts[1:]
	case "if":
	default:
		panic(fmt.Sprintf("no node of a program: %v", read))
	}
	for _, part := range parts {
		made.parts = append(made.parts, asTerm(part.([]any)))
	}
	return made
}

// nested is `let x0 = 1 in let x1 = x0 in .. x_last`.
func nested(depth uint64) *term {
	named := func(i uint64) string { return fmt.Sprint("x", i) }
	body := &term{kind: "var", name: named(depth - 1)}
	for i := depth; i > 0; i-- {
		bound := &term{kind: "int", literal: int64(1)}
		if i > 1 {
			bound = &term{kind: "var", name: named(i - 2)}
		}
		body = &term{kind: "let", name: named(i - 1), parts: []*term{bound, body}}
	}
	return body
}

// output is the right output of the program, by its definition.
func output() []byte {
	text := []byte("[")
	for i := 1; i <= 100; i++ {
		word := fmt.Sprint(i)
		switch {
		case i%15 == 0:
			word = "fizzbuzz"
		case i%5 == 0:
			word = "buzz"
		case i%3 == 0:
			word = "fizz"
		}
		text = append(text, `"`+word+`",`...)
	}
	text[len(text)-1] = ']'
	return text
}
