package uiserver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// file is a file of the page, as it is and compressed.
type file struct {
	kind        string
	plain, gzip []byte
}

// newPage serves the built page. Each path that is no file is a screen of the page, which its script shows.
func newPage(assets fs.FS) (http.Handler, error) {
	files := map[string]file{}
	err := fs.WalkDir(assets, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		plain, err := fs.ReadFile(assets, name)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = z.Write(plain)
		if err := errors.Join(err, z.Close()); err != nil {
			return err
		}
		kind := mime.TypeByExtension(path.Ext(name))
		if kind == "" {
			kind = http.DetectContentType(plain)
		}
		files["/"+name] = file{kind: kind, plain: plain, gzip: packed.Bytes()}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the page's files: %w", err)
	}
	index, ok := files["/index.html"]
	if !ok {
		return nil, errors.New("the page's files have no index.html")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, isFile := files[r.URL.Path]
		switch {
		case isFile && r.URL.Path != "/index.html":
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // its name has a hash of its content
		case path.Ext(r.URL.Path) != "" && strings.HasPrefix(r.URL.Path, "/assets/"):
			http.NotFound(w, r)
			return
		default:
			f = index
			w.Header().Set("Cache-Control", "no-cache")
		}
		w.Header().Set("Content-Type", f.kind)
		w.Header().Add("Vary", "Accept-Encoding")
		body := f.plain
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(f.gzip) < len(f.plain) {
			w.Header().Set("Content-Encoding", "gzip")
			body = f.gzip
		}
		_, _ = w.Write(body) // an error is the browser's leaving
	}), nil
}
