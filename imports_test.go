package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mq-server/mq/"

// mayImport says which packages of ours a package may import: imports point one way, and namesrv and broker meet over
// TCP only. main imports cmd, and cmd everything but main.
var mayImport = map[string][]string{
	"protocol":     nil,
	"conf":         nil,
	"remoting":     {"protocol"},
	"broker/store": {"protocol"},
	"namesrv":      {"conf", "protocol", "remoting"},
	"broker":       {"broker/store", "conf", "protocol", "remoting"},
	"cmd/admin":    {"conf", "protocol", "remoting"},
	"cmd/bench":    {"protocol", "remoting"},
	"cmd":          {"broker", "cmd/admin", "cmd/bench", "conf", "namesrv", "protocol", "remoting"},
	".":            {"cmd"},
}

func TestImportsPointOneWay(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "scripts" || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("%s: the package is not in the table", path)
		}
		seen[dir] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
	imports:
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			ours, isOurs := strings.CutPrefix(imported, module)
			if !isOurs {
				continue
			}
			for _, a := range allowed {
				if a == ours {
					continue imports
				}
			}
			t.Errorf("%s imports %s, which %s may not", path, ours, dir)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "cmd", "conf", "namesrv", "protocol", "remoting"} {
		if !seen[dir] {
			t.Errorf("package %s was not looked at", dir)
		}
	}
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
