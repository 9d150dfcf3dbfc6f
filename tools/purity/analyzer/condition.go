package analyzer

import (
	"go/ast"
	"go/types"
)

const adviceCondition = "set its LastTransitionTime to View.Now"

// isSetCondition tells whether f is apimachinery's SetStatusCondition, which gives a condition without a time the clock's.
func isSetCondition(f *types.Func) bool {
	return f.Pkg() != nil && f.Pkg().Path() == "k8s.io/apimachinery/pkg/api/meta" && f.Name() == "SetStatusCondition"
}

// setsTime tells whether a function gives a condition its time, in a literal or by an assignment.
func setsTime(block ast.Node) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			found = found || ok && key.Name == "LastTransitionTime"
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				sel, ok := left.(*ast.SelectorExpr)
				found = found || ok && sel.Sel.Name == "LastTransitionTime"
			}
		}
		return !found
	})
	return found
}
