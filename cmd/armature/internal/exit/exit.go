// Package exit lets a command end the program with an exit code of its own, when what it printed has said why.
package exit

import "fmt"

// Code is an exit code as an error. The program prints nothing more for it.
type Code int

// Error names the code, for those who don't know it to be one.
func (c Code) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
