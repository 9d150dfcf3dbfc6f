// Package errorlist takes apart what errors.Join has put together.
//
// It takes an error and returns the errors in it. An error that has several causes, such as one of fmt.Errorf with two %w, stays one.
package errorlist
