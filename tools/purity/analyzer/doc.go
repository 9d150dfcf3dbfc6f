// Package analyzer finds what makes a Plan of an operator impure.
//
// A Plan is a function of the owner and of the View. Everything that Armature promises about Plans (dry runs, previews, tests without
// a cluster) rests on it: the same owner and the same View give the same Plan. The compiler can't hold that, so this analyzer looks
// for what breaks it in the code that a Plan reaches:
//
//   - the clock (time.Now, timers): a Plan gets the time from View.Now;
//   - random numbers and identifiers;
//   - files, the environment, processes, the network, requests to the API server;
//   - goroutines and channels, whose order is the scheduler's;
//   - the order in which Go ranges over a map, when it decides the order of a list, the text of a message, or which entry is returned;
//   - writes to what lasts after the pass: variables of packages, what the receiver of a Plan points to, and what the function literal of a
//     Plan captures. A restart forgets them, and a replay or another manager never had them.
//
// # What counts as a Plan
//
// Every function, method and function literal that returns a builder.Plan, or takes a builder.View and no context. The packages below
// builder, which make Views and carry Plans out, are exempt.
//
// # How far it looks
//
// It follows calls and mentions of functions through the packages of the module and of all modules that it depends on, except the
// standard library, which it knows by name, and packages that log or measure. In the module itself it also follows
//
//   - variables of a package: to their initial value, and to all values that the package assigns;
//   - fields that have a function, and variables and parameters with a function that the literal of a Plan captures: to all functions that
//     the package assigns or passes;
//   - methods of an interface that the module declares: to the types of the package, and of the packages that it imports, which
//     implement it.
//
// In other modules goroutines, channels, variables, interfaces, lasting state and the order of maps don't count: a library may use them and
// be a function of its arguments.
//
// It doesn't see a function or an implementation that only a package assigns which isn't imported, such as a main package; values that
// a Plan captures, such as settings; and the order of a map that only a helper sees, which the loop calls for each entry.
//
// # Writes to what lasts after the pass
//
// Counted are assignments and x++, delete, clear and copy; sorting in place and package maps; the methods that write of sync.Map, the
// types of sync/atomic, and locks; and calls of functions and methods of the module that write to what a parameter or the receiver points
// to. Of other modules the name decides: a method of a pointer or a map whose first word is Add, Set, Store, Delete or the like writes.
// A local variable stands for what it was set to: after m := table, m[k] = v writes to table.
//
// Allowed are values of variables and init functions, sync.OnceFunc, OnceValue and OnceValues in the value of a variable, functions of a
// sync.Once that take nothing from the pass, sync.Pool, and everything that the pass makes or gets as an argument. A cache that only saves
// time is an exception, below.
//
// A method is a Plan here if it has the parameters of one, and the package gives it away or doesn't call it: one that the package only
// calls may have a receiver of the pass. It isn't seen what a function returns, such as the pointer of a singleton, what a struct or a
// closure of the pass keeps, and a local variable that may also have a value of the pass.
//
// # Exceptions
//
// A line that is pure for a reason that the analyzer can't see says so at its end, or on the line above:
//
//	//purity:ignore the table is sorted by its reader
//
// An exception without a reason is an error.
package analyzer
