// Package statedir gives the operators of a program a quarantine whose record is in the directory of the flag --state-dir.
package statedir
