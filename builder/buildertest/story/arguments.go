package story

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value returns an option's only value, and whether the line has the option.
func value(l Line, key string) (string, bool, error) {
	values, ok := l.Options[key]
	if !ok {
		return "", false, nil
	}
	if len(values) != 1 {
		return "", true, fmt.Errorf("%s: %s has %d values; one is accepted", l.Command, key, len(values))
	}
	return values[0], true, nil
}

// number returns an option's number, or the default.
func number(l Line, key string, otherwise int64) (int64, error) {
	text, ok, err := value(l, key)
	if !ok || err != nil {
		return otherwise, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %s is %q; a whole number is accepted", l.Command, key, text)
	}
	return n, nil
}

// duration returns an option's duration, 0 without the option.
func duration(l Line, key string) (time.Duration, error) {
	text, ok, err := value(l, key)
	if !ok || err != nil {
		return 0, err
	}
	return parseDuration(l, text)
}

func parseDuration(l Line, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s: %q is no duration; values such as 90s and 2m are accepted", l.Command, text)
	}
	return d, nil
}

// labels returns the labels of the option labels=(k=v, k=v).
func labels(l Line) map[string]string {
	all := map[string]string{}
	for _, label := range l.Options["labels"] {
		key, value, _ := strings.Cut(label, "=")
		all[key] = value
	}
	return all
}

// has reports whether a line has a word.
func has(l Line, word string) bool { return slices.Contains(l.Words, word) }

// only returns an error if a line has an option or a number of words that its command doesn't take. A negative number is any.
func only(l Line, words int, options ...string) error {
	for key := range l.Options {
		if !slices.Contains(options, key) {
			return fmt.Errorf("%s: unknown option %s; accepted are %q", l.Command, key, options)
		}
	}
	if words >= 0 && len(l.Words) != words {
		return fmt.Errorf("%s has %d arguments (%q); it takes %d", l.Command, len(l.Words), l.Words, words)
	}
	return nil
}
