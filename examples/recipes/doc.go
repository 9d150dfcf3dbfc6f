// Package recipes has the code of docs/recipes.md, each recipe in a file of its own. Its tests run it.
package recipes
