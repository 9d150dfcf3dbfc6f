// Package pattern matches regular expressions that users write, at a bounded cost.
//
// Package regexp expands repetitions: 1,000 characters can become a million instructions, whose compilation takes seconds and a gigabyte.
// A match takes time by instructions times bytes. [Size] therefore counts the instructions without compiling, and callers refuse an
// expression, or several together, of more than [MaxSize].
package pattern
