package component

import "syscall"

func diesWithParent() *syscall.SysProcAttr { return nil }
