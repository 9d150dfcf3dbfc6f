package ui

import (
	"embed"
	"io/fs"
)

//go:embed all:assets
var embedded embed.FS

// Assets returns the built page: index.html, and the files that it names.
func Assets() fs.FS {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the name is a constant, and valid
	}
	return assets
}
