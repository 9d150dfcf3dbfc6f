// Package docs holds the manual against the code: what it lists is what there is, and what it shows is what the tests run.
package docs
