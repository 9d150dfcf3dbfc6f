// Package jobflow runs the Jobs of a JobFlow in the order of their dependencies.
package jobflow
