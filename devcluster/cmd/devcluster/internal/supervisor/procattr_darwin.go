package supervisor

import "syscall"

// ownGroup keeps the terminal's ctrl-C from the components, which are stopped in order instead.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
