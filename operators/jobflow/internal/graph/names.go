package graph

import (
	"strconv"
	"strings"

	"github.com/armature-dev/armature/operators/internal/names"
)

// JobName returns the name of a node's Job: <flow>-<node>, in a retry <flow>-<node>-r<retry>, cut if it is longer than 63 characters.
func JobName(flow, node string, retry int32) string {
	return fit(flow + "-" + node + retrySuffix(retry))
}

// ItemJobName returns the name of the Job of an item of a node: <flow>-<node>-<item>, in a retry with -r<retry> after it, cut as JobName.
func ItemJobName(flow, node string, item int, retry int32) string {
	return fit(flow + "-" + node + "-" + strconv.Itoa(item) + retrySuffix(retry))
}

func retrySuffix(retry int32) string {
	if retry == 0 {
		return ""
	}
	return "-r" + strconv.Itoa(int(retry))
}

// fit cuts a Job's name that is too long.
func fit(name string) string {
	if len(name) <= names.MaxLength {
		return name
	}
	return names.Cut(name, names.ShortLength)
}

// namesakeOf returns a node whose Jobs, with the suffix of a retry or an item, could have the same name as this node's; empty if there
// is none.
func namesakeOf(name string, has, isForEach func(name string) bool) string {
	if head, digits, ok := cutLast(name, "-r"); ok && names.IsNumber(digits) {
		if has(head) {
			return head
		}
		name = head
	}
	if head, digits, ok := cutLast(name, "-"); ok && names.IsNumber(digits) && isForEach(head) {
		return head
	}
	return ""
}

func cutLast(s, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
