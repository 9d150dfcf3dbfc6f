package inflight

import (
	"encoding/binary"
	"io"
	"os"
	"strings"
)

// slotSize is enough for the longest names that Kubernetes allows: 63 for a namespace, 253 for an object, 36 for a UID, and 128 for a
// field owner. A pass with longer ones isn't recorded.
const slotSize = 512

// A slot is the length of a text in two bytes, 0 if no pass runs, and the text: the fields of a Pass.
const separator = "\x00"

func writeSlot(f *os.File, slot int, p Pass) error {
	var buf [slotSize]byte
	text := append(buf[:2], p.Controller...)
	for _, field := range [...]string{p.Namespace, p.Name, p.UID} {
		text = append(append(text, separator...), field...)
	}
	if len(text) > slotSize {
		return nil
	}
	binary.BigEndian.PutUint16(text, uint16(len(text)-2)) //nolint:gosec // at most slotSize
	_, err := f.WriteAt(text, int64(slot)*slotSize)
	return err
}

func clearSlot(f *os.File, slot int) error {
	_, err := f.WriteAt([]byte{0, 0}, int64(slot)*slotSize)
	return err
}

// readSlots returns the recorded passes. It ignores unreadable slots.
func readSlots(f io.Reader) ([]Pass, error) {
	all, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var passes []Pass
	for ; len(all) > 2; all = all[min(slotSize, len(all)):] {
		size := int(binary.BigEndian.Uint16(all))
		if size == 0 || size+2 > min(slotSize, len(all)) {
			continue
		}
		if fields := strings.Split(string(all[2:2+size]), separator); len(fields) == 4 {
			passes = append(passes, Pass{fields[0], fields[1], fields[2], fields[3]})
		}
	}
	return passes, nil
}
