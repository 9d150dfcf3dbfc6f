package names

import (
	"math/rand/v2"
	"strconv"
)

func New(prefix string) string { // want New:"calls rand.IntN"
	return prefix + "-" + strconv.Itoa(rand.IntN(1000))
}
