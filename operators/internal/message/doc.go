// Package message bounds the messages of conditions and events: a long list becomes its first entries and a count of the rest.
package message
