package ratelimit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ratelimit-go/ratelimit/"

// mayImport is which packages of the project a package may import: one way, from
// the adapters down to the engine.
var mayImport = map[string][]string{
	"core":            {},
	"keyfuncs":        {"core"},
	"headers":         {"core"},
	"pipeline":        {"core", "keyfuncs", "headers"},
	"core/redisstore": {"core"},
	"metrics":         {"core", "pipeline", "metrics/tally"},
	"metrics/tally":   {"core", "pipeline"},
	"debug":           {"core", "keyfuncs", "pipeline", "metrics/tally"},

	"metrics/eventlog":    {"core", "pipeline", "metrics/tally"},
	"metrics/otelmetrics": {"core", "pipeline", "metrics/tally"},

	"nethttp": {"core", "keyfuncs", "headers", "pipeline"},
	"gin":     {"core", "keyfuncs", "headers", "pipeline"},
	"echo":    {"core", "keyfuncs", "headers", "pipeline"},
	"fiber":   {"core", "keyfuncs", "headers", "pipeline"},
	"chi":     {"core", "keyfuncs", "headers", "pipeline", "nethttp"},
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

func TestImportsPointOneWay(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.ImportPath}}={{join .Imports ","}}`, "./...") {
		path, imports, _ := strings.Cut(line, "=")
		allowed, held := mayImport[strings.TrimPrefix(path, module)]
		if !held {
			continue
		}
		for _, imported := range strings.Split(imports, ",") {
			name, ours := strings.CutPrefix(imported, module)
			if ours && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}

// TestNetHTTPLinksNothingElse: a program that imports only nethttp carries neither
// a Redis client nor a framework, nor the testing package.
func TestNetHTTPLinksNothingElse(t *testing.T) {
	for _, path := range goList(t, "-deps", "./nethttp") {
		first, _, _ := strings.Cut(path, "/")
		if path == "testing" || strings.Contains(first, ".") && !strings.HasPrefix(path, module) {
			t.Errorf("nethttp links %s", path)
		}
	}
}

func TestOnlyTheSuitesLinkTesting(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.ImportPath}}={{join .Imports ","}}`, "./...") {
		path, imports, _ := strings.Cut(line, "=")
		if slices.Contains(strings.Split(imports, ","), "testing") && !strings.Contains(path, "test") {
			t.Errorf("%s imports testing outside its tests", path)
		}
	}
}

// TestEveryExportedNameIsDocumented, also in what is internal.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "build") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			for _, name := range undocumented(t, path) {
				t.Errorf("%s: %s has no comment", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func undocumented(t *testing.T, path string) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, undocumentedIn(spec, d.Doc != nil)...)
			}
		}
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	switch generic := kind.(type) {
	case *ast.IndexExpr:
		kind = generic.X
	case *ast.IndexListExpr:
		kind = generic.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}

func undocumentedIn(spec ast.Spec, group bool) (names []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && !group {
			names = append(names, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && s.Doc == nil && s.Comment == nil && !group {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
