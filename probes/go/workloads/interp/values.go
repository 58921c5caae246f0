package interp

import (
	"errors"
	"strconv"
)

// value is an int64, a string, a bool, a []value, a failure, or a lambda with its environment (applier, unionApplier).
// Go puts integers below 256 and booleans into an interface without allocating.
type value = any

// failure is an error of the program.
type failure string

// MarshalJSON fails: a request's output is no error.
func (f failure) MarshalJSON() ([]byte, error) { return nil, errors.New("an error: " + string(f)) }

// cell is a persistent linked list of names and values: the environment.
type cell struct {
	name  string
	value value
	rest  *cell
}

// find is the value that was bound last under name.
func (env *cell) find(name string) value {
	for ; env != nil; env = env.rest {
		if env.name == name {
			return env.value
		}
	}
	return failure("no variable " + name)
}

// firstFailure is the first error among these values, or nil.
func firstFailure(values []value) value {
	for _, one := range values {
		if _, failed := one.(failure); failed {
			return one
		}
	}
	return nil
}

// listed is the list of these values, or the first error among them.
func listed(values []value) value {
	if failed := firstFailure(values); failed != nil {
		return failed
	}
	return values
}

// branch is which part of an `if` a condition chooses, or else the value of the `if`.
func branch(condition value) (part int, wrong value) {
	switch condition := condition.(type) {
	case bool:
		if condition {
			return 1, nil
		}
		return 2, nil
	case failure:
		return 0, condition
	}
	return 0, failure("a condition must be a boolean")
}

// pauses says which elements of a list suspend: those that every divides, none where it is 0. A run-time value.
type pauses struct {
	every int64
	yield func()
}

func (p *pauses) has(element value) bool {
	i, is := element.(int64)
	return is && p.every != 0 && i%p.every == 0
}

// builtin is a function of the program that cannot suspend, or in which suspending stops its goroutine.
type builtin func(arguments []value) value

// synchronous are the builtins that cannot suspend.
var synchronous = map[string]builtin{"Int::range": intRange, "Int::%": remainder, "Int::==": equal, "Int::toString": toString}

func integers(arguments []value) (left, right int64, are bool) {
	if len(arguments) != 2 {
		return 0, 0, false
	}
	left, isLeft := arguments[0].(int64)
	right, isRight := arguments[1].(int64)
	return left, right, isLeft && isRight
}

func intRange(arguments []value) value {
	first, last, are := integers(arguments)
	if !are {
		return failure("Int::range needs two integers")
	}
	values := make([]value, 0, max(last-first+1, 0))
	for i := first; i <= last; i++ {
		values = append(values, i)
	}
	return values
}

func remainder(arguments []value) value {
	left, right, are := integers(arguments)
	if !are {
		return failure("Int::% needs two integers")
	}
	if right == 0 {
		return int64(0)
	}
	return left % right
}

func equal(arguments []value) value {
	left, right, are := integers(arguments)
	if !are {
		return failure("Int::== needs two integers")
	}
	return left == right
}

func toString(arguments []value) value {
	if len(arguments) == 1 {
		if i, is := arguments[0].(int64); is {
			return strconv.FormatInt(i, 10)
		}
	}
	return failure("Int::toString needs an integer")
}

var errLambda = errors.New("a lambda")

// mapped are the arguments of List::map, or its value where that is an error.
func mapped[A interface{ params() []string }](arguments []value) (list []value, lambda A, wrong value) {
	if len(arguments) == 2 {
		list, isList := arguments[0].([]value)
		lambda, isLambda := arguments[1].(A)
		if isList && isLambda && len(lambda.params()) == 1 {
			return list, lambda, nil
		}
	}
	return nil, lambda, failure("List::map needs a list and a lambda of one parameter")
}
