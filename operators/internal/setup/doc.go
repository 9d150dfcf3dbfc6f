// Package setup has the parameters of the operators' functions Setup.
package setup
