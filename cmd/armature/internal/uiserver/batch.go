package uiserver

import "encoding/json"

const (
	// maxBatch is the most values of one message.
	maxBatch = 500
	// maxBatchBytes is the size at which a message gets no further value. The texts are other people's, and an escaped character has up to
	// six bytes: a bound on the number alone would let one tenant fill the memory that all viewers share.
	maxBatchBytes = 256 << 10
)

// batch is the JSON array of one message.
type batch struct {
	body []byte
	n    int
}

func (b *batch) add(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	separator := byte(',')
	if b.n == 0 {
		separator = '['
	}
	b.body = append(append(b.body, separator), text...)
	b.n++
	return nil
}

func (b *batch) full() bool { return b.n >= maxBatch || len(b.body) >= maxBatchBytes }
