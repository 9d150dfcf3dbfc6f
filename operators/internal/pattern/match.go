package pattern

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxVerdicts bounds the remembered results of matches, of all objects together: some 10 MB.
const maxVerdicts = 50_000

// verdicts are results of matches, by what they follow from. A pod stays failed for many passes, and a match can take long.
var verdicts, _ = lru.New[[sha256.Size]byte, bool](maxVerdicts) // fails only for a size below 1

// Expression is a valid expression of a bounded [Size]. It is compiled when a match first needs it.
type Expression struct {
	text    string
	program func() *regexp.Regexp
}

// New returns an expression whose size has been checked.
func New(text string) *Expression {
	return &Expression{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// Match reports whether a text contains a match. The result is remembered.
func (x *Expression) Match(text string) bool {
	key := keyOf(x.text, text)
	if verdict, ok := verdicts.Get(key); ok {
		return verdict
	}
	verdict := x.program().MatchString(text)
	verdicts.Add(key, verdict) //purity:ignore a verdict is a function of its key, and only saves time
	return verdict
}

func keyOf(expression, text string) [sha256.Size]byte {
	both := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64+len(expression)+len(text)), uint64(len(expression)))
	return sha256.Sum256(append(append(both, expression...), text...))
}
