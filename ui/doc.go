// Package ui has the page of "armature ui": flows, queues and clusters as people want to see them.
//
// The page is written in ui/web, and built into ui/assets by "make ui", which needs Node. The built files are committed and embedded
// here, so that "go build" needs Go alone; "make check" fails if they aren't those that the sources make. The server is in
// cmd/armature/internal/uiserver. API.md is the contract between the two.
package ui
